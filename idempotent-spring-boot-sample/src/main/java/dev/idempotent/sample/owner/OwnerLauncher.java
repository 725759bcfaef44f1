package dev.idempotent.sample.owner;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import dev.idempotent.sample.checkout.Services;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.stereotype.Component;

/**
 * Starts owners on the servers of this instance.
 */
@Component
class OwnerLauncher {

	private final JdbcConnectionDetails database;

	private final DataRedisConnectionDetails redis;

	private final ObjectProvider<KafkaConnectionDetails> kafka;

	private final Services services;

	OwnerLauncher(JdbcConnectionDetails database, DataRedisConnectionDetails redis,
			ObjectProvider<KafkaConnectionDetails> kafka, Services services) {
		this.database = database;
		this.redis = redis;
		this.kafka = kafka;
		this.services = services;
	}

	/**
	 * Starts an owner.
	 * @param lines called with each line that it prints for this JVM
	 * @param end called when it has ended
	 * @throws OwnerUnavailableException if Redis is not a single server
	 */
	OwnerProcess start(BiConsumer<OwnerProcess, OwnerLine> lines, Consumer<OwnerProcess> end) {
		return OwnerProcess.start(
				OwnerCommand.of(System.getProperty("java.home"), System.getProperty("java.class.path")), environment(),
				lines, end);
	}

	/**
	 * Other users of the machine can see arguments, but not the environment.
	 */
	private Map<String, String> environment() {
		Standalone standalone = this.redis.getStandalone();
		if (standalone == null) {
			throw OwnerUnavailableException.noSingleRedis();
		}
		Map<String, String> variables = new LinkedHashMap<>();
		put(variables, "SPRING_DATASOURCE_URL", this.database.getJdbcUrl());
		put(variables, "SPRING_DATASOURCE_USERNAME", this.database.getUsername());
		put(variables, "SPRING_DATASOURCE_PASSWORD", this.database.getPassword());
		put(variables, "SPRING_DATA_REDIS_HOST", standalone.getHost());
		put(variables, "SPRING_DATA_REDIS_PORT", Integer.toString(standalone.getPort()));
		put(variables, "SPRING_DATA_REDIS_USERNAME", this.redis.getUsername());
		put(variables, "SPRING_DATA_REDIS_PASSWORD", this.redis.getPassword());
		this.kafka.ifAvailable((servers) -> {
			put(variables, "SPRING_PROFILES_INCLUDE", "kafka");
			put(variables, "SPRING_KAFKA_BOOTSTRAP_SERVERS", String.join(",", servers.getBootstrapServers()));
		});
		put(variables, "SAMPLE_SERVICES_GATEWAY", this.services.gateway());
		put(variables, "SAMPLE_SERVICES_POINTS", this.services.points());
		return variables;
	}

	private static void put(Map<String, String> variables, String name, @Nullable String value) {
		if (value != null) {
			variables.put(name, value);
		}
	}

}
