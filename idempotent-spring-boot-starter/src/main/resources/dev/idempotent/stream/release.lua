-- Releases a pending entry with a given idle time and delivery count, so that any consumer can claim it once
-- it reaches the minimum idle time. Changes nothing if another consumer has claimed the entry or it was
-- acknowledged.
-- KEYS: stream. ARGV: group, consumer, id, idle time in ms, deliveries.
-- Returns 1 if the entry was released, else 0.
local stream = KEYS[1]
local group, consumer, id, idle, deliveries = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
redis.replicate_commands()
if #redis.call('XPENDING', stream, group, id, id, 1, consumer) == 0 then
	return 0
end
redis.call('XCLAIM', stream, group, consumer, 0, id, 'IDLE', idle, 'RETRYCOUNT', deliveries, 'JUSTID')
return 1
