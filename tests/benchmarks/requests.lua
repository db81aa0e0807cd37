-- Sends the requests of a file in a loop, and prints one line of JSON at the end.
-- A line: method, path, headers (`Name: value`, joined by \1), body, separated by tabs. `{n}` becomes a unique number,
-- for an Idempotency-Key.
local texts, fresh, sent, run, threads = {}, {}, 0, "", {}

function setup(thread)
   thread:set("thread_number", #threads)
   table.insert(threads, thread)
end

local function formatted(line)
   local method, path, headers, body = line:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$")
   local fields = {}
   for field in headers:gmatch("[^\1]+") do
      local name, value = field:match("^(.-): (.*)$")
      fields[name] = value
   end
   return wrk.format(method, path, fields, body ~= "" and body or nil)
end

function init(args)
   run = tostring(thread_number) .. "-" .. args[2] .. "-"
   for line in io.lines(args[1]) do
      local text = formatted(line)
      table.insert(texts, text)
      fresh[#texts] = text:find("{n}", 1, true) ~= nil
   end
   -- Each thread begins at another line of the file.
   sent = math.floor(thread_number * 7919)
end

function request()
   sent = sent + 1
   local place = sent % #texts + 1
   return fresh[place] and texts[place]:gsub("{n}", run .. sent, 1) or texts[place]
end

function done(summary, latency, requests)
   local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
   io.write(string.format('\n{"requests": %d, "seconds": %f, "bytes": %d, "failed": %d, "p50": %d, "p99": %d}\n',
      summary.requests, summary.duration / 1e6, summary.bytes, failed,
      latency:percentile(50), latency:percentile(99)))
end
