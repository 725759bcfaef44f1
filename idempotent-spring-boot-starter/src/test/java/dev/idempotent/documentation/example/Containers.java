package dev.idempotent.documentation.example;

import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

@TestConfiguration(proxyBeanMethods = false)
class Containers {

	@Bean
	@ServiceConnection("redis")
	GenericContainer<?> redis() {
		return new GenericContainer<>("redis:8").withExposedPorts(6379);
	}

	@Bean
	@ServiceConnection
	PostgreSQLContainer postgres() {
		return new PostgreSQLContainer("postgres:18");
	}

}
