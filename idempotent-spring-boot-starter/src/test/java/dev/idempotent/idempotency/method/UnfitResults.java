package dev.idempotent.idempotency.method;

import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.data.domain.Page;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Beans whose one annotated method, always {@code place}, has an unsupported result or
 * transaction.
 */
final class UnfitResults {

	private UnfitResults() {
	}

	static class OneMono {

		@Idempotent(key = "#id", name = "one-mono.place")
		public Mono<String> place(String id) {
			return Mono.just(id);
		}

	}

	static class ManyFlux {

		@Idempotent(key = "#id", name = "many-flux.place")
		public Flux<String> place(String id) {
			return Flux.just(id);
		}

	}

	static class OneStream {

		@Idempotent(key = "#id", name = "one-stream.place")
		public Stream<String> place(String id) {
			return Stream.of(id);
		}

	}

	static class OneInputStream {

		@Idempotent(key = "#id", name = "one-input-stream.place")
		public InputStream place(String id) {
			return InputStream.nullInputStream();
		}

	}

	static class OneIterator {

		@Idempotent(key = "#id", name = "one-iterator.place")
		public Iterator<String> place(String id) {
			return List.of(id).iterator();
		}

	}

	static class OneFuture {

		@Idempotent(key = "#id", name = "one-future.place")
		public Future<String> place(String id) {
			return CompletableFuture.completedFuture(id);
		}

	}

	static class AnyObject {

		@Idempotent(key = "#id", name = "place")
		public Object place(String id) {
			return id;
		}

	}

	static class OnePage {

		@Idempotent(key = "#id", name = "place")
		public Page<String> place(String id) {
			return Page.empty();
		}

	}

	static class OneResponseEntity {

		@Idempotent(key = "#id", name = "place")
		public ResponseEntity<String> place(String id) {
			return ResponseEntity.ok(id);
		}

	}

	sealed interface Payment permits ByCard {

	}

	record ByCard(String number) implements Payment {
	}

	static class SealedWithoutTypes {

		@Idempotent(key = "#id", name = "place")
		public List<Payment> place(String id) {
			return List.of(new ByCard(id));
		}

	}

	record Counted(String id, AtomicInteger count) {
	}

	static class OneCounter {

		@Idempotent(key = "#id", name = "place")
		public List<Counted> place(String id) {
			return List.of(new Counted(id, new AtomicInteger(1)));
		}

	}

	static class LaterCounter {

		@Idempotent(key = "#id", name = "place")
		public CompletableFuture<Counted> place(String id) {
			return CompletableFuture.completedFuture(new Counted(id, new AtomicInteger(1)));
		}

	}

	static class FutureInTransaction {

		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "future-in-transaction.place")
		public CompletableFuture<String> place(String id) {
			return CompletableFuture.completedFuture(id);
		}

	}

	static class ReadOnly {

		@Transactional(readOnly = true)
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "read-only.place")
		public String place(String id) {
			return id;
		}

	}

	static class NotSupported {

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "not-supported.place")
		public String place(String id) {
			return id;
		}

	}

	static class Never {

		@Transactional(propagation = Propagation.NEVER)
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "never.place")
		public String place(String id) {
			return id;
		}

	}

	static class InTransaction {

		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "in-transaction.place")
		public String place(String id) {
			return id;
		}

	}

}
