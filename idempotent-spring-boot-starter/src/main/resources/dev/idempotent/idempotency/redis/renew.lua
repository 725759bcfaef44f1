-- Restarts the lease of a PENDING key that the token owns.
-- KEYS: key. ARGV: beginning of the value of a key that the token has claimed (RedisValue describes the format),
-- lease in ms.
-- Returns 'RENEWED', 'REFUSED' for a key that the token does not own, or 'FOREIGN' for a value that this library did
-- not write.
local key, pending, lease = KEYS[1], ARGV[1], ARGV[2]

local stored = redis.pcall('GETRANGE', key, 0, #pending - 1)
if type(stored) == 'table' or (stored == '' and redis.call('EXISTS', key) == 1) then
  return 'FOREIGN'
end

if stored == pending then
  redis.call('PEXPIRE', key, lease)
  return 'RENEWED'
end
if stored ~= '' and string.sub(stored, 1, 4) ~= string.sub(pending, 1, 4) then
  return 'FOREIGN'
end
return 'REFUSED'
