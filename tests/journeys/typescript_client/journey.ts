// From registration to a revoked token, with a client that @hey-api/openapi-ts has generated into `./api`.
// `test_typescript_client.py` compiles it with `tsc --strict` and runs it.
import * as api from './api';
import { createClient, type Client } from './api/client';

declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };

type Result<Data, Failure> = { data?: Data; error?: Failure; response?: Response };

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

function equal(actual: unknown, expected: unknown): void {
  const [got, due] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (got !== due) throw new Error(`${got} is not ${due}`);
}

/** The body of a successful response. */
async function done<Data>(pending: Promise<Result<Data, unknown>>): Promise<NonNullable<Data>> {
  const result = await pending;
  if (result.error !== undefined || result.data == null) throw new Error(JSON.stringify(result.error));
  return result.data;
}

/** The body of a refusal with this status. */
async function refused<Failure>(pending: Promise<Result<unknown, Failure>>, status: number): Promise<NonNullable<Failure>> {
  const result = await pending;
  equal(result.response?.status, status);
  if (result.error == null) throw new Error('There is no body.');
  return result.error;
}

const baseUrl = setting('BASE_URL');
const handle = setting('HANDLE');
const password = setting('PASSWORD');
const pageUrl = `https://blog.example/${handle}`;
const anonymous = createClient({ baseUrl });

function withToken(token: string): Client {
  return createClient({ baseUrl, auth: token });
}

/** A client with a user token. */
async function asPerson(signedInAs: string): Promise<Client> {
  const session = await done(api.login({ client: anonymous, body: { handle: signedInAs, password } }));
  const issued = await done(api.createEmbedToken({ client: withToken(session.accessToken) }));
  return createClient({ baseUrl, auth: (scheme) => (scheme.type === 'http' ? issued.token : issued.userId) });
}

async function agentToken(operator: Client): Promise<api.CreatedToken> {
  const request = await done(
    api.requestAgent({
      client: operator,
      body: {
        agentName: 'Journey agent',
        agentHandle: `${handle}_agent`,
        purpose: 'Takes part in a test of the generated client.',
        scopes: ['post', 'reply', 'react'],
      },
    }),
  );
  const path = { id: request.id };
  const early = await refused(api.createAgentToken({ client: operator, path, body: {} }), 409);
  equal(early.error, 'request_not_approved');
  const admin = await asPerson(setting('ADMIN_HANDLE'));
  const approved = await done(api.approveAgentRequest({ client: admin, path, body: {} }));
  equal(approved.status, 'approved');
  return done(api.createAgentToken({ client: operator, path, body: { label: 'journey' } }));
}

async function post(agent: Client, pageId: string): Promise<api.Message> {
  const request = { client: agent, body: { pageId, content: 'Hello from TypeScript.' }, headers: { 'Idempotency-Key': 'one' } };
  const checked = await done(api.checkMessage({ client: agent, body: request.body }));
  equal(checked.wouldBe, 'published');
  const posted = await done(api.createMessage(request));
  const again = await api.createMessage(request);
  equal(again.data, posted);
  equal(again.response?.headers.get('Idempotent-Replayed'), 'true');
  equal(posted.author.kind, 'agent');
  return posted;
}

/** A missing scope and a text over its cap. */
async function refusals(agent: Client, posted: api.Message): Promise<void> {
  const { pageId, id } = posted;
  const quote = await refused(api.createMessage({ client: agent, body: { pageId, content: 'A quote', quoteId: id } }), 403);
  equal(quote.error, 'agent_scope_missing:quote');
  const long = await refused(api.createMessage({ client: agent, body: { pageId, content: 'x'.repeat(20_001) } }), 413);
  equal([long.field, long.max], ['content', 20_000]);
}

async function answerAndReact(agent: Client, operator: Client, posted: api.Message): Promise<void> {
  const body = { pageId: posted.pageId, content: 'A reply.', parentId: posted.id };
  const reply = await done(api.createMessage({ client: agent, body }));
  equal(reply.parentId, posted.id);
  for (const client of [agent, operator]) {
    const reaction = await done(api.addReaction({ client, body: { messageId: posted.id, emoji: '👍' } }));
    equal(reaction.action, 'added');
  }
}

async function read(posted: api.Message): Promise<void> {
  const listed = await done(api.listMessages({ client: anonymous, query: { pageId: posted.pageId, includeTopReply: true } }));
  equal(listed.messages.map((each) => [each.id, each.replyCount, each.reactionTotal]), [[posted.id, 1, 2]]);
  equal(listed.nextCursor, null);
  const reactions = await done(api.listReactions({ client: anonymous, path: { id: posted.id } }));
  equal([reactions.counts['👍'], reactions.reactions.length], [2, 2]);
}

async function revoke(operator: Client, id: string): Promise<void> {
  const request = { client: operator, path: { id }, body: { reason: 'The journey ends.' } };
  equal((await done(api.revokeAgentToken(request))).revoked, true);
  const again = await done(api.revokeAgentToken(request));
  equal([again.revoked, typeof again.alreadyRevokedAt], [false, 'string']);
}

async function main(): Promise<void> {
  await done(api.register({ client: anonymous, body: { handle, name: 'Ada', password } }));
  const operator = await asPerson(handle);
  const page = await done(api.normalizeUrl({ client: anonymous, body: { url: `${pageUrl}?utm_source=mail` } }));
  equal(page.normalizedUrl, pageUrl);
  const token = await agentToken(operator);
  const agent = withToken(token.token);
  const whoami = await done(api.getAgentSelf({ client: agent }));
  equal([...whoami.scopes].sort(), ['post', 'react', 'reply']);
  const posted = await post(agent, page.pageId);
  await refusals(agent, posted);
  await answerAndReact(agent, operator, posted);
  await read(posted);
  await revoke(operator, token.tokenId);
  const late = await refused(api.createMessage({ client: agent, body: { pageId: page.pageId, content: 'Too late.' } }), 401);
  process.stdout.write(late.error);
}

void main();
