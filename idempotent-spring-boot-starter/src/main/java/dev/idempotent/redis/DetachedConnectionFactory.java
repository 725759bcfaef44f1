package dev.idempotent.redis;

import java.util.concurrent.CompletableFuture;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;
import org.springframework.util.Assert;

/**
 * Opens native Lettuce connections with Spring Data's configuration of servers and
 * credentials.
 */
final class DetachedConnectionFactory extends LettuceConnectionFactory {

	private @Nullable LettuceConnectionProvider connector;

	DetachedConnectionFactory(RedisConfiguration servers, LettuceClientConfiguration client) {
		super(servers, client);
		setShareNativeConnection(false);
	}

	@Override
	protected LettuceConnectionProvider doCreateConnectionProvider(AbstractRedisClient client, RedisCodec<?, ?> codec) {
		LettuceConnectionProvider provider = super.doCreateConnectionProvider(client, codec);
		// Called a second time for reactive connections.
		if (codec instanceof ByteArrayCodec) {
			this.connector = provider;
		}
		return provider;
	}

	@SuppressWarnings("unchecked")
	CompletableFuture<StatefulConnection<byte[], byte[]>> open() {
		Assert.state(this.connector != null, "The factory was not started");
		Class<? extends StatefulConnection<?, ?>> type = (Class<? extends StatefulConnection<?, ?>>) (Class<?>) (isClusterAware()
				? StatefulRedisClusterConnection.class : StatefulRedisConnection.class);
		return (CompletableFuture<StatefulConnection<byte[], byte[]>>) (CompletableFuture<?>) this.connector
			.getConnectionAsync(type)
			.toCompletableFuture();
	}

	/**
	 * Refreshes the topology of a Cluster, which Lettuce does automatically only if the
	 * application has configured it.
	 */
	void refreshTopology() {
		if (getNativeClient() instanceof RedisClusterClient cluster) {
			var unused = cluster.refreshPartitionsAsync();
		}
	}

}
