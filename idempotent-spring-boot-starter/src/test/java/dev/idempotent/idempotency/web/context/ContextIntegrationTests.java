package dev.idempotent.idempotency.web.context;

import java.util.UUID;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.redis.RedisValues;
import dev.idempotent.idempotency.web.context.Sightings.Sighting;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.DispatcherType;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The context of a request with a key, on the threads of its dispatches.
 */
class ContextIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication application = RunningApplication
		.of(() -> WebApplication.start(ContextApplication.class, redis, "server.tomcat.threads.max=1",
				"server.tomcat.threads.min-spare=1"))
		.resetting(Sightings.class, Sightings::forget);

	private final Sightings sightings = application.bean(Sightings.class);

	private final String key = UUID.randomUUID().toString();

	@Test
	void hasTheKeyAndTokenOfTheStore() {
		assertThat(post("/returns")).isEqualTo(200);
		IdempotencyContext context = this.sightings.at("handler").bound();
		assertThat(new RedisValues(redis.connect()).token("idempotency:" + context.key().digest()))
			.isEqualTo(context.token());
	}

	@Test
	void isNotVisibleToTheNextRequestOfItsThread() {
		assertThat(post("/returns")).isEqualTo(200);
		Sighting withKey = this.sightings.at("handler");
		withKey.bound();
		assertThat(this.sightings.after(DispatcherType.REQUEST).isClean()).isTrue();
		this.sightings.forget();
		assertThat(application.post("/without-key", "{}").statusCode()).isEqualTo(200);
		assertThat(this.sightings.at("handler").thread()).isSameAs(withKey.thread());
		assertThat(this.sightings.at("handler").isClean()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "/returns,200", "/throws,500", "/status/404,404", "/status/503,503", "/forwards,200", "/deferred,200",
			"/deferred-failure,404" })
	void isBoundToTheThreadUntilTheRequestEnds(String path, int status) {
		assertThat(post(path)).isEqualTo(status);
		this.sightings.in(DispatcherType.REQUEST).bound();
		assertThat(this.sightings.after(DispatcherType.REQUEST).isClean()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/returns", "/throws", "/deferred" })
	void restoresTheEarlierContextOfTheThread(String path) {
		IdempotencyContext outer = new IdempotencyContext(new IdempotencyKey("outer"), "token");
		this.sightings.beginWith(outer);
		post(path);
		assertThat(this.sightings.in(DispatcherType.REQUEST).bound()).isNotSameAs(outer);
		assertThat(this.sightings.after(DispatcherType.REQUEST).bound()).isSameAs(outer);
	}

	@Test
	void isTheSameInAnAsynchronousDispatch() {
		assertThat(post("/deferred")).isEqualTo(200);
		assertSameIn(DispatcherType.ASYNC);
	}

	@Test
	void isTheSameInErrorPages() {
		assertThat(post("/deferred-failure")).isEqualTo(404);
		assertSameIn(DispatcherType.ASYNC);
		assertSameIn(DispatcherType.ERROR);
	}

	@Test
	void isTheSameInAForwardAndAfterIt() {
		assertThat(post("/forwards")).isEqualTo(200);
		assertThat(this.sightings.in(DispatcherType.FORWARD).bound())
			.isSameAs(this.sightings.in(DispatcherType.REQUEST).bound())
			.isSameAs(this.sightings.after(DispatcherType.FORWARD).bound())
			.isSameAs(this.sightings.at("after the forward").bound());
	}

	@ParameterizedTest
	@ValueSource(strings = { "/throws", "/status/503" })
	void isAbsentInTheErrorPageOfAReleasedKey(String path) {
		post(path);
		this.sightings.in(DispatcherType.REQUEST).bound();
		assertThat(this.sightings.in(DispatcherType.ERROR).isClean()).isTrue();
	}

	private void assertSameIn(DispatcherType dispatch) {
		assertThat(this.sightings.in(dispatch).bound()).isSameAs(this.sightings.in(DispatcherType.REQUEST).bound());
		assertThat(this.sightings.after(dispatch).isClean()).isTrue();
	}

	private int post(String path) {
		return application.post(path, "{}", KEY, this.key).statusCode();
	}

}
