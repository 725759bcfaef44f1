-- Deletes a COMPLETED key that the token has completed. A PENDING key stays unchanged.
-- KEYS: key. ARGV: beginning of the value of a key that the token has completed (RedisValue describes the format).
-- Returns 'FREE', also for a key that is already free, 'REFUSED' for a key that is pending or that another token has
-- completed, or 'FOREIGN' for a value that this library did not write.
local key, completed = KEYS[1], ARGV[1]

local stored = redis.pcall('GETRANGE', key, 0, #completed - 1)
if type(stored) == 'table' or (stored == '' and redis.call('EXISTS', key) == 1) then
  return 'FOREIGN'
end

if stored == '' then
  return 'FREE'
end
if stored == completed then
  redis.call('DEL', key)
  return 'FREE'
end
if string.sub(stored, 1, 4) ~= string.sub(completed, 1, 4) then
  return 'FOREIGN'
end
return 'REFUSED'
