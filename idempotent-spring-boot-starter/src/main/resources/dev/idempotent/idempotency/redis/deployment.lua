-- Reads what the applications stated at their last starts, after an optional change of one field.
-- KEYS: hash. ARGV: none, or field, its content as it was read (empty to add it), new content.
-- Returns all fields and their contents.
local hash = KEYS[1]

if #ARGV == 3 then
  local field, before, content = ARGV[1], ARGV[2], ARGV[3]
  if (redis.call('HGET', hash, field) or '') == before then
    redis.call('HSET', hash, field, content)
  end
end
return redis.call('HGETALL', hash)
