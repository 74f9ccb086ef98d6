-- wrk -s serving.lua URL -- BODY TYPE: posts the file BODY again and again, and prints "name: value" lines at the end.
function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  wrk.headers["Content-Type"] = arguments[2]
  file:close()
end

function done(summary)
  local errors = summary.errors
  print("requests: " .. summary.requests)
  print("seconds: " .. summary.duration / 1e6)
  print("failed: " .. errors.connect + errors.read + errors.write + errors.status + errors.timeout)
end
