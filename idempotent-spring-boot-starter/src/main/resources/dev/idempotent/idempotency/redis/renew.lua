-- Restarts the lease of a PENDING key that the token owns.
-- KEYS: key. ARGV: token, lease in ms.
-- Returns 'RENEWED', 'REFUSED' for a key that the token does not own, or 'FOREIGN' for a value that this library did
-- not write.
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
