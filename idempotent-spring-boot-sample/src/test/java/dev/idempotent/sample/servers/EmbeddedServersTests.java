package dev.idempotent.sample.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class EmbeddedServersTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(TestConfiguration.class);

	@ParameterizedTest
	@ValueSource(strings = { "spring.data.redis.host=redis.example.com", "spring.data.redis.url=redis://example.com",
			"spring.data.redis.cluster.nodes=one.example.com:6379", "spring.data.redis.sentinel.master=shop" })
	void startsNoServerThatIsConfigured(String redis) {
		this.runner.withPropertyValues("spring.datasource.url=jdbc:postgresql://example.com/shop", redis)
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(RedisServer.class)
				.doesNotHaveBean(PostgresServer.class));
	}

	@Test
	void reportsThatRedisCannotBeExecuted() {
		Path executable = Path.of("no", "such", "redis-server");
		assertThatExceptionOfType(EmbeddedServerException.class).isThrownBy(() -> RedisServer.start(executable))
			.withMessageContaining("The embedded Redis could not be started")
			.withMessageContaining(executable.toString())
			.satisfies((ex) -> assertThat(actionFor(ex)).contains("libssl3", "EMBEDDED_REDIS_EXECUTABLE",
					"spring.data.redis.host"));
	}

	@Test
	@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the stand-in is a shell script")
	void reportsTheOutputOfRedisIfItEndsBeforeItIsReady(@TempDir Path folder) throws IOException {
		Path executable = folder.resolve("redis-server");
		Files.writeString(executable, """
				#!/bin/sh
				echo 'libssl.so.3: cannot open shared object file' >&2
				exit 127
				""");
		assertThat(executable.toFile().setExecutable(true)).isTrue();
		assertThatExceptionOfType(EmbeddedServerException.class).isThrownBy(() -> RedisServer.start(executable))
			.withMessageContaining("ended before it was ready")
			.withMessageContaining("libssl.so.3: cannot open");
	}

	private static @Nullable String actionFor(EmbeddedServerException ex) {
		FailureAnalysis analysis = new EmbeddedServerFailureAnalyzer().analyze(new BeanCreationException("server", ex));
		return (analysis != null) ? analysis.getAction() : null;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(EmbeddedRedisProperties.class)
	@Import(EmbeddedServers.class)
	static class TestConfiguration {

	}

}
