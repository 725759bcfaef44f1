package dev.idempotent.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import dev.idempotent.outbox.OutboxHandler;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.function.AsyncServerResponse;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
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

	@ParameterizedTest
	@ValueSource(strings = { "future", "completable", "publisher", "mono", "flux", "callable", "deferred", "task",
			"emitter", "stream", "server", "entityOfStream", "entityOfFlux" })
	void mayRespondLater(String name) {
		assertThat(AnnotatedMethod.respondsLater(method(name).method())).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "nothing", "value", "list", "entity", "anyEntity" })
	void respondsWhenItReturns(String name) {
		assertThat(AnnotatedMethod.respondsLater(method(name).method())).isFalse();
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

		Callable<String> callable();

		DeferredResult<String> deferred();

		WebAsyncTask<String> task();

		SseEmitter emitter();

		StreamingResponseBody stream();

		AsyncServerResponse server();

		ResponseEntity<StreamingResponseBody> entityOfStream();

		HttpEntity<Flux<String>> entityOfFlux();

		ResponseEntity<String> entity();

		ResponseEntity<?> anyEntity();

	}

}
