package dev.idempotent.idempotency.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.codec.RedisCodec;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * A connection for each thread that uses one, kept for the next. As soon as one of them
 * falls silent, or is refused by a server that is no longer the master, all are replaced.
 */
final class ExclusiveConnectionFactory extends LettuceConnectionFactory {

	ExclusiveConnectionFactory(RedisConfiguration servers, LettuceClientConfiguration client) {
		super(servers, client);
		setShareNativeConnection(false);
	}

	@Override
	protected LettuceConnectionProvider doCreateConnectionProvider(AbstractRedisClient client, RedisCodec<?, ?> codec) {
		IdleConnections connections = new IdleConnections(super.doCreateConnectionProvider(client, codec));
		client.addListener(new CommandFailureListener(connections::retireAll, connections::retireAll));
		return connections;
	}

}
