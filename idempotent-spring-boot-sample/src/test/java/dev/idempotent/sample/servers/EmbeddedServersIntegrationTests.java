package dev.idempotent.sample.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import redis.embedded.core.ExecutableProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

class EmbeddedServersIntegrationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, DataSourceAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class))
		.withUserConfiguration(TestConfiguration.class);

	@Test
	void startsRealServersAndStopsThemWithTheApplication() {
		AtomicInteger redisPort = new AtomicInteger();
		AtomicInteger postgresPort = new AtomicInteger();
		this.runner.run((context) -> {
			StringRedisTemplate redis = context.getBean(StringRedisTemplate.class);
			redis.opsForValue().set("coupon", "coffee");
			assertThat(redis.opsForValue().get("coupon")).isEqualTo("coffee");
			redisPort.set(context.getBean(RedisServer.class).getStandalone().getPort());
			JdbcClient jdbc = context.getBean(JdbcClient.class);
			assertThat(jdbc.sql("select version()").query(String.class).single()).startsWith("PostgreSQL");
			postgresPort.set(jdbc.sql("select inet_server_port()").query(Integer.class).single());
		});
		assertThatNothingListensOn(redisPort.get());
		assertThatNothingListensOn(postgresPort.get());
	}

	@Test
	void sharesTheServersOfAnotherInstance() {
		this.runner.run((first) -> {
			RedisServer redis = first.getBean(RedisServer.class);
			PostgresServer postgres = first.getBean(PostgresServer.class);
			first.getBean(StringRedisTemplate.class).opsForValue().set("coupon", "tea");
			this.runner
				.withPropertyValues("spring.data.redis.host=127.0.0.1",
						"spring.data.redis.port=" + redis.getStandalone().getPort(),
						"spring.datasource.url=" + postgres.getJdbcUrl(),
						"spring.datasource.username=" + postgres.getUsername(),
						"spring.datasource.password=" + postgres.getPassword())
				.run((second) -> {
					assertThat(second).doesNotHaveBean(RedisServer.class).doesNotHaveBean(PostgresServer.class);
					assertThat(second.getBean(StringRedisTemplate.class).opsForValue().get("coupon")).isEqualTo("tea");
					assertThat(second.getBean(JdbcClient.class).sql("select 1").query(Integer.class).single()).isOne();
				});
		});
	}

	@Test
	void startsTheConfiguredRedis() throws IOException {
		Path executable = ExecutableProvider.newJarResourceProvider().get().toPath();
		try (RedisServer redis = RedisServer.start(executable)) {
			new Socket(InetAddress.getLoopbackAddress(), redis.getStandalone().getPort()).close();
		}
	}

	@Test
	void losesNothingInOutagesUnderLoad() {
		this.runner.run((context) -> {
			RedisServer server = context.getBean(RedisServer.class);
			StringRedisTemplate redis = context.getBean(StringRedisTemplate.class);
			AtomicBoolean ended = new AtomicBoolean();
			AtomicInteger confirmed = new AtomicInteger();
			List<CompletableFuture<Void>> clients = Stream
				.generate(() -> CompletableFuture.runAsync(() -> increment(redis, confirmed, ended)))
				.limit(4)
				.toList();
			for (int outage = 0; outage < 10; outage++) {
				int before = confirmed.get();
				Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> confirmed.get() > before);
				server.cut();
				server.restore();
			}
			ended.set(true);
			clients.forEach(CompletableFuture::join);
			// A connection that returns may send a command again.
			assertThat(redis.opsForValue().get("coupons")).asInt().isGreaterThanOrEqualTo(confirmed.get());
		});
	}

	private static void increment(StringRedisTemplate redis, AtomicInteger confirmed, AtomicBoolean ended) {
		while (!ended.get()) {
			try {
				redis.opsForValue().increment("coupons");
				confirmed.incrementAndGet();
			}
			catch (DataAccessException ex) {
				// The outage took the reply.
			}
		}
	}

	private static void assertThatNothingListensOn(int port) {
		assertThatIOException().isThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(EmbeddedRedisProperties.class)
	@Import(EmbeddedServers.class)
	static class TestConfiguration {

	}

}
