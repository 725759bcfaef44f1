-- Lets the lease of a PENDING key that the token owns start anew. Returns RENEWED, REFUSED or FOREIGN.
local key, token, lease = KEYS[1], ARGV[1], ARGV[2]

local record = redis.pcall('HMGET', key, 'state', 'token')
if record.err then
  return 'FOREIGN'
end
local state, owner = unpack(record)
if state ~= 'PENDING' and state ~= 'COMPLETED' and redis.call('EXISTS', key) == 1 then
  return 'FOREIGN'
end

if state ~= 'PENDING' or owner ~= token then
  return 'REFUSED'
end
redis.call('PEXPIRE', key, lease)
return 'RENEWED'
