package dev.idempotent.saga.method;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.Saga;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import reactor.core.publisher.Mono;

/**
 * Beans whose one annotated method, always {@code place}, cannot be a saga.
 */
final class UnfitSagas {

	private UnfitSagas() {
	}

	static class InTransaction {

		@Transactional
		@Saga(key = "#id", name = "InTransaction.place")
		public void place(String id) {
		}

	}

	@Transactional
	static class OfTransactionalClass {

		@Saga(key = "#id", name = "OfTransactionalClass.place")
		public void place(String id) {
		}

	}

	static class Twofold {

		@Idempotent(key = "#id", name = "twofold.place")
		@Saga(key = "#id", name = "Twofold.place")
		public void place(String id) {
		}

	}

	@Controller
	static class Handler {

		@Saga(key = "#id", name = "Handler.place")
		@PostMapping("/orders")
		public void place(String id) {
		}

	}

	static class Later {

		@Saga(key = "#id", name = "Later.place")
		public CompletableFuture<String> place(String id) {
			return CompletableFuture.completedFuture(id);
		}

	}

	static class Sometime {

		@Saga(key = "#id", name = "Sometime.place")
		public Future<String> place(String id) {
			return CompletableFuture.completedFuture(id);
		}

	}

	static class Reactive {

		@Saga(key = "#id", name = "Reactive.place")
		public Mono<String> place(String id) {
			return Mono.just(id);
		}

	}

	static class Streaming {

		@Saga(key = "#id", name = "Streaming.place")
		public Stream<String> place(String id) {
			return Stream.of(id);
		}

	}

	record Counted(AtomicInteger count) {
	}

	static class Counting {

		@Saga(key = "#id", name = "Counting.place")
		public Counted place(String id) {
			return new Counted(new AtomicInteger(1));
		}

	}

	static class UnknownVariable {

		@Saga(key = "#order.id", name = "UnknownVariable.place")
		public void place(String id) {
		}

	}

	static class Blank {

		@Saga(key = "#id", name = " ")
		public void place(String id) {
		}

	}

	static class NoDuration {

		@Saga(key = "#id", timeout = "soon", name = "NoDuration.place")
		public void place(String id) {
		}

	}

	static class NoTime {

		@Saga(key = "#id", timeout = "0s", name = "NoTime.place")
		public void place(String id) {
		}

	}

	static class FinalMethod {

		@Saga(key = "#id", name = "FinalMethod.place")
		public final void place(String id) {
		}

	}

	static class PrivateMethod {

		public void call(String id) {
			String unused = place(id);
		}

		@Saga(key = "#id", name = "PrivateMethod.place")
		private String place(String id) {
			return id;
		}

	}

	@Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
	static class Prototype {

		@Saga(key = "#id", name = "Prototype.place")
		public void place(String id) {
		}

	}

	@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class Scoped {

		@Saga(key = "#id", name = "Scoped.place")
		public void place(String id) {
		}

	}

	static class Plain {

		@Saga(key = "#id", timeout = "${place.timeout:3s}", name = "Plain.place")
		public void place(String id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoBeans {

		@Bean
		Plain one() {
			return new Plain();
		}

		@Bean
		Plain other() {
			return new Plain();
		}

	}

	static class Other {

		@Saga(key = "#id", name = "Plain.place")
		public void place(String id) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Plain.class, Other.class })
	static class SameNames {

	}

}
