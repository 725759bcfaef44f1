-- Releases a PENDING key that the token owns. A COMPLETED key stays unchanged.
-- KEYS: key. ARGV: beginning of the value of a key that the token has claimed (RedisValue describes the format).
-- Returns 'FREE', also for a key that is already free, 'REFUSED' for a key that is completed or that another token
-- owns, or 'FOREIGN' for a value that this library did not write.
local key, pending = KEYS[1], ARGV[1]

local stored = redis.pcall('GETRANGE', key, 0, #pending - 1)
if type(stored) == 'table' or (stored == '' and redis.call('EXISTS', key) == 1) then
  return 'FOREIGN'
end

if stored == '' then
  return 'FREE'
end
if stored == pending then
  redis.call('DEL', key)
  return 'FREE'
end
if string.sub(stored, 1, 4) ~= string.sub(pending, 1, 4) then
  return 'FOREIGN'
end
return 'REFUSED'
