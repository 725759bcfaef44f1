-- Deletes a COMPLETED key that the token has completed. A PENDING key stays unchanged.
-- KEYS: key. ARGV: token.
-- Returns 'FREE', also for a key that is already free, 'REFUSED' for a key that is pending or that another token has
-- completed, or 'FOREIGN' for a value that this library did not write.
local key, token = KEYS[1], ARGV[1]

local record = redis.pcall('HMGET', key, 'state', 'token')
if record.err then
  return 'FOREIGN'
end
local state, owner = unpack(record)
if state ~= 'PENDING' and state ~= 'COMPLETED' and redis.call('EXISTS', key) == 1 then
  return 'FOREIGN'
end

if not state then
  return 'FREE'
end
if state ~= 'COMPLETED' or owner ~= token then
  return 'REFUSED'
end
redis.call('DEL', key)
return 'FREE'
