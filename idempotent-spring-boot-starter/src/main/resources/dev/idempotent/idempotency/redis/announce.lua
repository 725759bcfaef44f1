-- Lists claimed keys for operators, until their claims end unless they are announced again. Forgets those that have
-- ended, and the first to end if there are more than 10,000. The list itself expires.
-- KEYS: sorted set. ARGV: digest of a key, how long its claim holds at most in ms, and so on.
-- Returns 'OK'.
local index = KEYS[1]

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', index, '-inf', now)
for i = 1, #ARGV, 2 do
  redis.call('ZADD', index, 'GT', string.format('%.0f', now + ARGV[i + 1]), ARGV[i])
end
redis.call('ZREMRANGEBYRANK', index, 0, -10001)
redis.call('PEXPIREAT', index, redis.call('ZREVRANGE', index, 0, 0, 'WITHSCORES')[2])
return 'OK'
