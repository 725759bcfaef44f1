package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.testing.RealRedis;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link IdempotencyRedisConnection}.
 */
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyRedisConnectionIntegrationTests {

	private static final Pattern LETTUCE_THREAD = Pattern.compile("lettuce-[a-zA-Z]+-(\\d+)-\\d+");

	/**
	 * As long as a reply of a busy machine may take.
	 */
	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private static final String WARNING = "use a Redis with maxmemory-policy noeviction";

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	private final IdempotencyKey key = Samples.key();

	private final RedisConnectionFactory factory = redis.connect();

	@Test
	void keepsTheFactoryRunningWhenShared() {
		LettuceConnectionFactory application = redis.connect();
		IdempotencyRedisConnection connection = IdempotencyRedisConnection.shared(application);
		StoreVerb.CLAIM.ask(store(connection), this.key);
		connection.close();
		assertThat(application.isRunning()).isTrue();
	}

	@Test
	void usesTheDatabaseAndCredentialsOfTheApplication() {
		command("ACL", "SETUSER", "shop", "on", ">secret", "~*", "+@all");
		RedisStandaloneConfiguration servers = servers();
		servers.setDatabase(5);
		servers.setUsername("shop");
		servers.setPassword("secret");
		LettuceConnectionFactory application = started(servers, LettuceClientConfiguration.defaultConfiguration());
		command("CONFIG", "SET", "requirepass", "other");
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(application, TIMEOUT)) {
			StoreVerb.CLAIM.ask(store(connection), this.key);
			assertThat(new StringRedisTemplate(application).hasKey("test:" + this.key.digest())).isTrue();
		}
		finally {
			redis.stop();
			redis.start();
			application.destroy();
		}
	}

	@Test
	void isUnavailableWithAWrongPassword() {
		RedisStandaloneConfiguration servers = servers();
		servers.setUsername("stranger");
		servers.setPassword("wrong");
		LettuceConnectionFactory application = started(servers, LettuceClientConfiguration.defaultConfiguration());
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(application, TIMEOUT)) {
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> StoreVerb.CLAIM.ask(store(connection), this.key));
		}
		finally {
			application.destroy();
		}
	}

	@Test
	void keepsTheApplicationConnectedWhenClosed() {
		ClientResources resources = ClientResources.create();
		LettuceConnectionFactory application = started(servers(),
				LettuceClientConfiguration.builder().clientResources(resources).build());
		IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(application, TIMEOUT);
		StoreVerb.CLAIM.ask(store(connection), this.key);
		connection.close();
		StringRedisTemplate template = new StringRedisTemplate(application);
		assertThat(template.hasKey("test:" + this.key.digest())).isTrue();
		redis.stop();
		redis.start();
		await().ignoreExceptions().until(() -> !template.hasKey("test:" + this.key.digest()));
		application.destroy();
		assertThat(resources.shutdown().awaitUninterruptibly().isSuccess()).isTrue();
	}

	@Test
	void isUnavailableWhenClosed() {
		IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(redis.connect(), TIMEOUT);
		RedisIdempotencyStore store = store(connection);
		StoreVerb.CLAIM.ask(store, this.key);
		connection.close();
		assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
			.isThrownBy(() -> StoreVerb.COMPLETE.ask(store, this.key));
	}

	@Test
	void leavesNoThreadBehindWhenClosed() {
		LettuceConnectionFactory application = redis.connect();
		new StringRedisTemplate(application).hasKey("any");
		int newest = threadPools().max().orElse(0);
		Set<Thread> before = ownThreads();
		IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(application, TIMEOUT);
		StoreVerb.CLAIM.ask(store(connection), this.key);
		assertThat(threadPools().max().orElse(0)).isGreaterThan(newest);
		connection.close();
		await().until(() -> threadPools().allMatch((pool) -> pool <= newest));
		await().until(() -> before.containsAll(ownThreads()));
	}

	@Test
	void reconnectsAfterAnOutage() {
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(redis.connect(), TIMEOUT)) {
			RedisIdempotencyStore store = store(connection);
			StoreVerb.CLAIM.ask(store, this.key);
			redis.stop();
			AtomicInteger refused = new AtomicInteger();
			await().until(() -> refuses(store, refused) && refused.get() > 10);
			redis.start();
			await().untilAsserted(() -> assertThatNoException().isThrownBy(() -> StoreVerb.CLAIM.ask(store, this.key)));
		}
	}

	@Test
	void lendsItsConnectionWithoutALock() throws Exception {
		try (DedicatedRedisConnections connections = DedicatedRedisConnections.to(redis.connect(), TIMEOUT)) {
			ping(connections);
			synchronized (connections) {
				CompletableFuture.runAsync(() -> ping(connections)).get(60, TimeUnit.SECONDS);
			}
		}
	}

	@Test
	void warnsOfAServerThatEvictsKeys(CapturedOutput output) {
		setPolicy("allkeys-lru");
		warmUp();
		assertThat(output).containsOnlyOnce(WARNING).contains("allkeys-lru");
	}

	@Test
	void isSilentAboutAServerThatDoesNotEvictKeys(CapturedOutput output) {
		setPolicy("noeviction");
		warmUp();
		assertThat(output).doesNotContain("maxmemory-policy");
	}

	@Test
	void warnsIfTheEvictionPolicyCannotBeRead(CapturedOutput output) {
		setPolicy("allkeys-lru");
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.execute("ACL", bytes("SETUSER"), bytes("default"), bytes("-info"));
			warmUp();
			connection.execute("ACL", bytes("SETUSER"), bytes("default"), bytes("+info"));
		}
		assertThat(output).containsOnlyOnce("The maxmemory-policy of Redis could not be read").contains("NOPERM");
	}

	@Test
	void warnsIfTheServerIsDownWhenItWarmsUp(CapturedOutput output) {
		redis.stop();
		try (IdempotencyRedisConnection connection = IdempotencyRedisConnection.withTimeout(redis.connect(),
				Duration.ofSeconds(10))) {
			connection.warmUp(Duration.ofSeconds(10));
		}
		redis.start();
		assertThat(output).containsOnlyOnce("Redis was not reachable while the application started")
			.contains("Connection refused");
	}

	private static void ping(DedicatedRedisConnections connections) {
		String unused = connections.useShared((shared) -> shared.await(shared.commands().ping()));
	}

	private boolean refuses(RedisIdempotencyStore store, AtomicInteger refused) {
		try {
			StoreVerb.CLAIM.ask(store, this.key);
			return false;
		}
		catch (IdempotencyStoreUnavailableException ex) {
			refused.incrementAndGet();
			return true;
		}
	}

	private static Set<Thread> ownThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("idempotency-"))
			.collect(Collectors.toSet());
	}

	/**
	 * The numbers of Lettuce's thread pools, which count up. One that the application
	 * shares may start its first thread at any time.
	 */
	private static IntStream threadPools() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map((thread) -> LETTUCE_THREAD.matcher(thread.getName()))
			.filter(Matcher::matches)
			.mapToInt((name) -> Integer.parseInt(name.group(1)));
	}

	private static RedisStandaloneConfiguration servers() {
		return new RedisStandaloneConfiguration(redis.host(), redis.port());
	}

	private static LettuceConnectionFactory started(RedisStandaloneConfiguration servers,
			LettuceClientConfiguration client) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(servers, client);
		factory.afterPropertiesSet();
		return factory;
	}

	private static RedisIdempotencyStore store(IdempotencyRedisConnection connection) {
		return new RedisIdempotencyStore(connection, "test:");
	}

	private static void command(String name, String... arguments) {
		byte[][] bytes = new byte[arguments.length][];
		for (int i = 0; i < arguments.length; i++) {
			bytes[i] = arguments[i].getBytes(StandardCharsets.US_ASCII);
		}
		try (RedisConnection connection = redis.connect().getConnection()) {
			connection.execute(name, bytes);
		}
	}

	private void warmUp() {
		IdempotencyRedisConnection.shared(this.factory).warmUp(Duration.ofMinutes(1));
	}

	private void setPolicy(String policy) {
		try (RedisConnection connection = this.factory.getConnection()) {
			connection.serverCommands().setConfig("maxmemory-policy", policy);
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

}
