-- Says that entries are being worked on, so that nobody takes them over. Leaves those alone
-- that another consumer has taken over or that were acknowledged, and counts no delivery.
local stream = KEYS[1]
local group, consumer = ARGV[1], ARGV[2]
redis.replicate_commands()
local renewed = 0
for i = 3, #ARGV do
	if #redis.call('XPENDING', stream, group, ARGV[i], ARGV[i], 1, consumer) > 0 then
		redis.call('XCLAIM', stream, group, consumer, 0, ARGV[i], 'JUSTID')
		renewed = renewed + 1
	end
end
return renewed
