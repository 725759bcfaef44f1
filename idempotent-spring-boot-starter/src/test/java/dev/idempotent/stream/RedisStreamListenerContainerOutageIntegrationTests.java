package dev.idempotent.stream;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import dev.idempotent.stream.StreamApplication.Calls;
import dev.idempotent.stream.StreamApplication.OrderListener;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.StallingProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RedisStreamListenerContainer} during outages of the server and the
 * network.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisStreamListenerContainerOutageIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.dedicated();

	@RegisterExtension
	static final RealRedis other = RealRedis.dedicated();

	@RegisterExtension
	static final StallingProxy network = StallingProxy.before(redis);

	private TestStream stream;

	private ConfigurableApplicationContext instance;

	private volatile Runnable during = () -> {
	};

	private final Calls calls = new Calls((order, headers) -> this.during.run());

	@BeforeEach
	void start() {
		redis.start();
		this.stream = new TestStream(redis.connect());
		this.instance = StreamApplication.start(OrderListener.class, network, this.calls, this.stream.property(),
				"idempotent.stream.min-idle-time=1h");
		this.stream.add("first");
		await().until(() -> this.calls.count("first") == 1 && this.stream.pending() == 0);
	}

	@AfterEach
	void stop() {
		network.resume();
		this.instance.close();
	}

	@Tag("long")
	@Test
	void createsTheGroupAgainWhenRedisRestartsEmptyAndLogsItOnce(CapturedOutput output) {
		redis.stop();
		network.reset();
		await().until(() -> output.getOut().contains("Redis is unavailable for @RedisStreamListener methods"));
		redis.start();
		this.stream = sameStream();
		this.stream.add("second");
		await().until(() -> this.calls.count("second") == 1 && this.stream.pending() == 0);
		assertThat(output).containsOnlyOnce("Redis is unavailable for @RedisStreamListener methods");
		await().untilAsserted(
				() -> assertThat(output).containsOnlyOnce("Redis is available again for @RedisStreamListener methods"));
	}

	@Test
	void createsARemovedGroupAgain(CapturedOutput output) {
		redis.flush();
		this.stream.add("second");
		await().until(() -> this.calls.count("second") == 1);
		assertThat(output).containsOnlyOnce("The group " + TestStream.GROUP);
	}

	@Test
	void continuesAtTheNewMasterBehindTheSameAddress() {
		try {
			redis.follow(other);
			network.leadTo(other);
			this.stream = new TestStream(other.connect(), this.stream.name());
			this.stream.add("second");
			await().until(() -> this.calls.count("second") == 1 && this.stream.pending() == 0);
		}
		finally {
			network.leadTo(redis);
			redis.lead();
		}
	}

	@Test
	void detectsASilentConnection(CapturedOutput output) {
		network.forgetConnections();
		await().until(() -> output.getOut().contains("Redis is unavailable for @RedisStreamListener methods"));
		this.stream.add("second");
		await().until(() -> this.calls.count("second") == 1 && this.stream.pending() == 0);
	}

	@Test
	void doesNotRedeliverAnEntryWhoseAcknowledgementWasLost() {
		this.during = network::reset;
		this.stream.add("second");
		// It could be claimed only after an hour.
		await().until(() -> this.calls.count("second") == 1 && this.stream.pending() == 0);
		assertThat(this.calls.count("second")).isOne();
	}

	@Test
	void releasesAnEntryThatArrivesDuringTheStop() {
		network.hold();
		this.stream.add("second");
		CountDownLatch stopped = new CountDownLatch(1);
		this.instance.getBean(RedisStreamListenerContainer.class).stop(stopped::countDown);
		await().until(RedisStreamListenerContainerOutageIntegrationTests::isStopWaiting);
		network.resume();
		await().until(() -> stopped.getCount() == 0);
		assertThat(this.calls.ids()).doesNotContain("second");
		// Not after an hour, and not counted.
		Calls others = new Calls();
		try (ConfigurableApplicationContext other = StreamApplication.start(OrderListener.class, redis, others,
				this.stream.property(), "idempotent.stream.min-idle-time=1h", "idempotent.stream.max-deliveries=1")) {
			await().until(() -> others.count("second") == 1 && this.stream.pending() == 0);
			assertThat(other.isRunning()).isTrue();
		}
	}

	@Test
	void isAnOutageOfOneStreamIfRedisRejectsItsCommands(CapturedOutput output) {
		TestStream other = new TestStream(redis.connect());
		StringRedisTemplate template = new StringRedisTemplate(redis.connect());
		template.opsForValue().set(other.name(), "of another type");
		try (ConfigurableApplicationContext misconfigured = StreamApplication.start(OrderListener.class, redis,
				this.calls, other.property())) {
			await().until(() -> output.getOut().contains("Redis rejects the commands for the group"));
			assertThat(output).doesNotContain("Redis is unavailable").contains("WRONGTYPE");
			assertThat(misconfigured.getBean(RedisStreamListenerContainer.class).unreachableFor()).isNull();
			template.delete(other.name());
			await().until(() -> output.getOut().contains("Redis accepts the commands for the group"));
			assertThat(output).containsOnlyOnce("Redis rejects the commands")
				.containsOnlyOnce("Redis accepts the commands");
		}
	}

	@Test
	void takesOneLineAtItsBeginningAndOneAtItsEnd(CapturedOutput output) {
		int before = output.getOut().length();
		RedisStreamListenerContainer container = this.instance.getBean(RedisStreamListenerContainer.class);
		assertThat(container.unreachableFor()).isNull();
		redis.stop();
		network.reset();
		// Longer than one attempt to reconnect.
		await().until(() -> {
			Duration outage = container.unreachableFor();
			return outage != null && outage.toMillis() > 1000;
		});
		redis.start();
		await().until(() -> container.unreachableFor() == null);
		assertThat(linesOf(output, before)).satisfiesExactly(
				(line) -> assertThat(line).contains("WARN", "Redis is unavailable for @RedisStreamListener methods")
					.doesNotContain("Exception"),
				(line) -> assertThat(line).contains("INFO", "Redis is available again")
					.containsPattern("methods, after \\d+ s$"));
	}

	/**
	 * The lines of this library's loggers and of stack traces through its classes.
	 */
	private static List<String> linesOf(CapturedOutput output, int from) {
		return output.getOut()
			.substring(from)
			.lines()
			.filter((line) -> line.contains("dev.idempotent.") || line.contains(" d.i."))
			.toList();
	}

	private static boolean isStopWaiting() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.anyMatch((thread) -> thread.getName().equals("stream-stop")
					&& thread.getState() == Thread.State.TIMED_WAITING);
	}

	/**
	 * Uses a client that is not affected by the outage.
	 */
	private TestStream sameStream() {
		return new TestStream(redis.connect(), this.stream.name());
	}

}
