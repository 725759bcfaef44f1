package dev.idempotent.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import dev.idempotent.outbox.OutboxHandler;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.util.ReflectionUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AnnotatedMethod}.
 */
class AnnotatedMethodTests {

	@ParameterizedTest
	@ValueSource(strings = { "future", "completable", "publisher", "mono", "flux" })
	void mayReturnBeforeItsWorkIsDone(String name) {
		assertThat(method(name).returnsEarly()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "nothing", "value", "list" })
	void returnsWhenItsWorkIsDone(String name) {
		assertThat(method(name).returnsEarly()).isFalse();
	}

	private static AnnotatedMethod method(String name) {
		Method method = Objects.requireNonNull(ReflectionUtils.findMethod(Results.class, name));
		return new AnnotatedMethod(OutboxHandler.class, Results.class, method);
	}

	interface Results {

		Future<String> future();

		CompletableFuture<String> completable();

		Publisher<String> publisher();

		Mono<String> mono();

		Flux<String> flux();

		void nothing();

		String value();

		List<String> list();

	}

}
