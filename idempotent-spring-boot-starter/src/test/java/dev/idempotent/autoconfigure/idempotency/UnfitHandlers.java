package dev.idempotent.autoconfigure.idempotency;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * Handlers for which {@code Guarantee.TRANSACTION} cannot hold, and one that can have it.
 */
final class UnfitHandlers {

	private UnfitHandlers() {
	}

	/**
	 * Opens transactions on nothing at all.
	 */
	static class NoDatabase extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

	@RestController
	static class UnderLease {

		@Idempotent
		@PostMapping("/under-lease")
		void run() {
		}

	}

	@RestController
	static class Plain {

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/plain")
		void run() {
		}

	}

	@RestController
	static class ByDefault {

		@Idempotent
		@PostMapping("/default")
		CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	@RestController
	static class WithoutAnnotation {

		@PostMapping("/plain/{id}")
		CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	@RestController
	static class Future {

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/future")
		CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("");
		}

	}

	@RestController
	static class Call {

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/call")
		Callable<String> run() {
			return () -> "";
		}

	}

	@RestController
	static class Event {

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/event")
		SseEmitter run() {
			return new SseEmitter();
		}

	}

	@RestController
	static class Entity {

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/entity")
		ResponseEntity<StreamingResponseBody> run() {
			return ResponseEntity.ok().build();
		}

	}

	@RestController
	static class ReadOnly {

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@Transactional(readOnly = true)
		@PostMapping("/read-only")
		void run() {
		}

	}

	@RestController
	static class Apart {

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@PostMapping("/apart")
		void run() {
		}

	}

}
