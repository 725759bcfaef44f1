package dev.idempotent.stream;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.springframework.scheduling.annotation.Async;

/**
 * Listeners that stop the application.
 */
@SuppressWarnings({ "UnusedMethod", "UnusedVariable" })
final class UnfitListeners {

	private UnfitListeners() {
	}

	static class BlankStream {

		@RedisStreamListener(stream = " ", group = "billing")
		void on(String payload) {
		}

	}

	static class BlankGroup {

		@RedisStreamListener(stream = "orders", group = "${empty:}")
		void on(String payload) {
		}

	}

	static class UnknownPlaceholder {

		@RedisStreamListener(stream = "${unknown}", group = "billing")
		void on(String payload) {
		}

	}

	static class NoThreads {

		@RedisStreamListener(stream = "orders", group = "billing", concurrency = 0)
		void on(String payload) {
		}

	}

	static class TwoPayloads {

		@RedisStreamListener(stream = "orders", group = "billing")
		void on(String payload, List<String> another, Map<String, String> headers) {
		}

	}

	static class TwoHeaders {

		@RedisStreamListener(stream = "orders", group = "billing")
		void on(Map<String, String> headers, Map<String, String> others) {
		}

	}

	static class Hidden {

		@RedisStreamListener(stream = "orders", group = "billing")
		private void on(String payload) {
		}

	}

	static class Future {

		@RedisStreamListener(stream = "orders", group = "billing")
		CompletableFuture<Void> on(String payload) {
			return CompletableFuture.completedFuture(null);
		}

	}

	static class Elsewhere {

		@Async
		@RedisStreamListener(stream = "orders", group = "billing")
		void on(String payload) {
		}

	}

	static class Rivals {

		@RedisStreamListener(stream = "orders", group = "billing")
		void on(String payload) {
		}

		@RedisStreamListener(stream = "${stream:orders}", group = "billing")
		void onToo(String payload) {
		}

	}

}
