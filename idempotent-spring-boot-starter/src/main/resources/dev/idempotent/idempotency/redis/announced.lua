-- Reads the list of claimed keys, those first whose claims end first. A key may have been completed or released since.
-- KEYS: sorted set. ARGV: how many keys to read at most.
-- Returns {'FOUND', how long the claim of the last key holds in ms if there are more keys or else -1, digest, ...}.
local index, limit = KEYS[1], tonumber(ARGV[1])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZRANGEBYSCORE', index, string.format('(%.0f', now), '+inf', 'LIMIT', 0, limit)
local within = -1
if #found == limit and redis.call('ZCOUNT', index, string.format('(%.0f', now), '+inf') > limit then
  within = redis.call('ZSCORE', index, found[limit]) - now
end
return {'FOUND', within, unpack(found)}
