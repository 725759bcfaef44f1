package dev.idempotent.autoconfigure;

import dev.idempotent.lettuce.DedicatedClientSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Whether connections of our own can be made to the application's Redis.
 */
public final class ApplicationRedis {

	private ApplicationRedis() {
	}

	/**
	 * The application's factory, if it is Lettuce's and says where it goes.
	 * @return {@code null} for another client, for static master and replica nodes, and
	 * for a factory that does not say
	 */
	public static @Nullable LettuceConnectionFactory lettuce(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details) {
		boolean masterReplica = details.stream().anyMatch((servers) -> servers.getMasterReplica() != null);
		return (application instanceof LettuceConnectionFactory lettuce && !masterReplica
				&& DedicatedClientSettings.hasKnownServers(lettuce)) ? lettuce : null;
	}

}
