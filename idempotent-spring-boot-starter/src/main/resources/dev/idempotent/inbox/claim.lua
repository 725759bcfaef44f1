-- Takes over entries that nobody has worked on for a while, each of which counts one more
-- delivery. Answers {id, deliveries, fields} for each, and {id} for one that was trimmed
-- from the stream, which is acknowledged: there is nothing left to work on.
-- XAUTOCLAIM tells no deliveries, and before Redis 7.0 not which entries were trimmed.
local stream = KEYS[1]
local group, consumer, idle, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
redis.replicate_commands()
local taken = {}
for _, pending in ipairs(redis.call('XPENDING', stream, group, 'IDLE', idle, '-', '+', count)) do
	local id = pending[1]
	local entry = redis.call('XCLAIM', stream, group, consumer, idle, id)[1]
	if entry then
		table.insert(taken, {id, pending[4] + 1, entry[2]})
	else
		redis.call('XACK', stream, group, id)
		table.insert(taken, {id})
	end
end
return taken
