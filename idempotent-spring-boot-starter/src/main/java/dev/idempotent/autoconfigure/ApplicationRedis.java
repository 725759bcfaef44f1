package dev.idempotent.autoconfigure;

import dev.idempotent.redis.DedicatedRedisConnections;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Determines whether further connections to the application's Redis can be opened.
 */
public final class ApplicationRedis {

	private ApplicationRedis() {
	}

	/**
	 * Returns the application's connection factory if it is Lettuce's and its servers are
	 * known.
	 * @param application the application's factory
	 * @param details Boot's connection details, if any
	 * @return {@code null} for another client, for static master and replica nodes, and
	 * for a factory that does not reveal its servers
	 */
	public static @Nullable LettuceConnectionFactory lettuce(RedisConnectionFactory application,
			ObjectProvider<DataRedisConnectionDetails> details) {
		boolean masterReplica = details.stream().anyMatch((servers) -> servers.getMasterReplica() != null);
		return (application instanceof LettuceConnectionFactory lettuce && !masterReplica
				&& DedicatedRedisConnections.hasKnownServers(lettuce)) ? lettuce : null;
	}

}
