-- Claims one pending entry that has been idle for a time, and counts one more delivery. Searches from an id
-- onwards, then from the beginning. A trimmed entry is acknowledged, since nothing is left to process.
-- KEYS: stream. ARGV: group, consumer, minimum idle time in ms, first id as in XPENDING.
-- Returns {id, deliveries, fields}, {id} for a trimmed entry, or {} if there is none.
-- (XAUTOCLAIM does not return deliveries, nor, before Redis 7.0, the trimmed entries.)
local stream = KEYS[1]
local group, consumer, idle, from = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
redis.replicate_commands()
local pending = redis.call('XPENDING', stream, group, 'IDLE', idle, from, '+', 1)[1]
	or redis.call('XPENDING', stream, group, 'IDLE', idle, '-', '+', 1)[1]
if not pending then
	return {}
end
local id = pending[1]
local entry = redis.call('XCLAIM', stream, group, consumer, idle, id)[1]
if entry then
	return {id, pending[4] + 1, entry[2]}
end
redis.call('XACK', stream, group, id)
return {id}
