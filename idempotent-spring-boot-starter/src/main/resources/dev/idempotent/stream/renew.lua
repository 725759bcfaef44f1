-- Says that an entry is being worked on, so that nobody takes it over. Does nothing to an
-- entry that another consumer has taken over or that was acknowledged, and counts no
-- delivery.
local stream = KEYS[1]
local group, consumer, id = ARGV[1], ARGV[2], ARGV[3]
redis.replicate_commands()
if #redis.call('XPENDING', stream, group, id, id, 1, consumer) == 0 then
	return 0
end
redis.call('XCLAIM', stream, group, consumer, 0, id, 'JUSTID')
return 1
