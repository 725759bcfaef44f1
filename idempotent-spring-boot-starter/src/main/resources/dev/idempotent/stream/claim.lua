-- Takes over an entry that nobody has worked on for a while, which counts one more
-- delivery. Looks from a place in the stream onwards, and then from its beginning. Answers
-- {id, deliveries, fields}, or {id} for one that was trimmed from the stream, which is
-- acknowledged: there is nothing left to work on. Answers {} if there is no such entry.
-- XAUTOCLAIM tells no deliveries, and before Redis 7.0 not which entries were trimmed.
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
