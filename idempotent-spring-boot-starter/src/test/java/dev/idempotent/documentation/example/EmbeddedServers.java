package dev.idempotent.documentation.example;

import java.io.IOException;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.DynamicPropertyRegistrar;
import org.springframework.test.util.TestSocketUtils;
import redis.embedded.RedisServer;

@TestConfiguration(proxyBeanMethods = false)
class EmbeddedServers {

	@Bean
	EmbeddedPostgres postgres() throws IOException {
		return EmbeddedPostgres.start();
	}

	@Bean(initMethod = "start", destroyMethod = "stop")
	RedisServer redis() throws IOException {
		return new RedisServer(TestSocketUtils.findAvailableTcpPort());
	}

	@Bean
	DynamicPropertyRegistrar addresses(EmbeddedPostgres postgres, RedisServer redis) {
		return (properties) -> {
			properties.add("spring.datasource.url", () -> postgres.getJdbcUrl("postgres", "postgres"));
			properties.add("spring.data.redis.port", () -> redis.ports().get(0));
		};
	}

}
