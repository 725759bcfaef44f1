package dev.idempotent.idempotency.propagation;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import io.micrometer.context.ContextExecutorService;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link IdempotencyContextAccessor}.
 */
class IdempotencyContextAccessorTests {

	private final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().build();

	private final IdempotencyContext context = new IdempotencyContext(new IdempotencyKey("one"), "token");

	private final IdempotencyContext other = new IdempotencyContext(new IdempotencyKey("other"), "token");

	@AfterEach
	void unbind() {
		IdempotencyContext.bind(null);
	}

	@Test
	void isFoundWithoutConfiguration() {
		assertThat(ContextRegistry.getInstance().getThreadLocalAccessors())
			.hasAtLeastOneElementOfType(IdempotencyContextAccessor.class);
	}

	@Test
	void bindsTheCapturedContextAndRestoresAfterwards() {
		ContextSnapshot snapshot = captured();
		snapshot.wrap(() -> assertBound(this.context)).run();
		assertUnbound();
	}

	@Test
	void bindsWhatWasCapturedAndThenWhatWasThereBefore() {
		ContextSnapshot snapshot = captured();
		IdempotencyContext.bind(this.other);
		snapshot.wrap(() -> assertBound(this.context)).run();
		assertBound(this.other);
	}

	@Test
	void unbindsMeanwhileIfMissingContextsAreCleared() {
		ContextSnapshot empty = ContextSnapshotFactory.builder().clearMissing(true).build().captureAll();
		IdempotencyContext.bind(this.other);
		empty.wrap(IdempotencyContextAccessorTests::assertUnbound).run();
		assertBound(this.other);
	}

	@Test
	void followsTasksThroughAPlainExecutor() throws Exception {
		ExecutorService plain = Executors.newSingleThreadExecutor();
		try {
			ExecutorService executor = ContextExecutorService.wrap(plain, this.snapshots);
			IdempotencyContext.bind(this.context);
			executor.submit(() -> assertBound(this.context)).get();
			plain.submit(IdempotencyContextAccessorTests::assertUnbound).get();
		}
		finally {
			plain.shutdownNow();
		}
	}

	@Test
	void followsAReactivePipelineThatCapturesIt() {
		IdempotencyContext.bind(this.context);
		Mono<IdempotencyContext> pipeline = Mono.just("a")
			.publishOn(Schedulers.boundedElastic())
			.handle((value, sink) -> {
				assertBound(this.context);
				IdempotencyContext seen = IdempotencyContext.current();
				if (seen != null) {
					sink.next(seen);
				}
			});
		assertThat(pipeline.contextCapture().block()).isSameAs(this.context);
	}

	private ContextSnapshot captured() {
		IdempotencyContext.bind(this.context);
		ContextSnapshot snapshot = this.snapshots.captureAll();
		IdempotencyContext.bind(null);
		return snapshot;
	}

	private static void assertBound(IdempotencyContext expected) {
		assertThat(IdempotencyContext.current()).isSameAs(expected);
		assertThat(MDC.get("idempotency")).isEqualTo(expected.key().digest());
	}

	private static void assertUnbound() {
		assertThat(IdempotencyContext.current()).isNull();
		assertThat(MDC.get("idempotency")).isNull();
	}

}
