-- Leaves an entry to whoever asks first after a while, by letting it look as if nobody had
-- worked on it for the rest of the time after which entries are taken over. Does nothing
-- to an entry that another consumer has taken over or that was acknowledged.
local stream = KEYS[1]
local group, consumer, id, idle, deliveries = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
redis.replicate_commands()
if #redis.call('XPENDING', stream, group, id, id, 1, consumer) == 0 then
	return 0
end
redis.call('XCLAIM', stream, group, consumer, 0, id, 'IDLE', idle, 'RETRYCOUNT', deliveries, 'JUSTID')
return 1
