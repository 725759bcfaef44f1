-- Completes a key that the token owns, or that is free, with a response. Repeatable: a key that the token has
-- completed keeps its response, for at least the retention from now on.
-- KEYS: key. ARGV: value of the completed key (RedisValue describes the format), retention in ms.
-- Returns 'KEPT', 'REFUSED' if another token owns the key, or 'FOREIGN' for a value that this library did not write.
local key, completed, retention = KEYS[1], ARGV[1], ARGV[2]
local state = string.byte(completed, 5) + 6

-- The stored value up to its state: its response may be large.
local stored = redis.pcall('GETRANGE', key, 0, state - 1)
if type(stored) == 'table' or (stored == '' and redis.call('EXISTS', key) == 1) then
  return 'FOREIGN'
end

if stored == string.sub(completed, 1, state) then
  if redis.call('PTTL', key) < tonumber(retention) then
    redis.call('PEXPIRE', key, retention)
  end
  return 'KEPT'
end
if stored == '' or stored == string.sub(completed, 1, state - 1) .. 'P' then
  redis.call('SET', key, completed, 'PX', retention)
  return 'KEPT'
end
if string.sub(stored, 1, 4) ~= string.sub(completed, 1, 4) then
  return 'FOREIGN'
end
return 'REFUSED'
