package dev.idempotent.idempotency.method;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.testing.PackagePrivateMethod;
import org.springframework.context.event.EventListener;
import org.springframework.transaction.annotation.Transactional;

/**
 * Beans whose one annotated method, always {@code place}, cannot be idempotent.
 */
final class UnfitMethods {

	private UnfitMethods() {
	}

	static class FinalMethod {

		@Idempotent(key = "#id")
		public final String place(String id) {
			return id;
		}

	}

	static final class FinalClass {

		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	record OneRecord(String name) {

		@Idempotent(key = "#id")
		public String place(String id) {
			return this.name + id;
		}

	}

	abstract static sealed class Sealed {

		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	static final class OnlyOne extends Sealed {

	}

	static class MethodOfAnotherPackage extends PackagePrivateMethod {

	}

	static class PrivateMethod {

		public String call(String id) {
			return place(id);
		}

		@Idempotent(key = "#id")
		private String place(String id) {
			return id;
		}

	}

	static class StaticMethod {

		@Idempotent(key = "#id")
		public static String place(String id) {
			return id;
		}

	}

	interface Greeter {

		String greet(String id);

	}

	static class BesideItsInterface implements Greeter {

		@Override
		public String greet(String id) {
			return id;
		}

		@Transactional
		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	interface Placing {

		@Transactional
		@Idempotent(key = "#id")
		String place(String id);

	}

	static class Plain {

		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	static class TokenWithKey {

		@Idempotent(from = KeySource.TOKEN, name = "order", key = "#id")
		void place(String id) {
		}

	}

	static class TokenOnListener {

		@Idempotent(from = KeySource.TOKEN, name = "order")
		@EventListener
		void place(String id) {
		}

	}

	static class IncludesHeader {

		@Idempotent(key = "#id", name = "place", include = "X-Account")
		public String place(String id) {
			return id;
		}

	}

	static class NoKey {

		@Idempotent
		public String place(String id) {
			return id;
		}

	}

	static class UnknownVariable {

		@Idempotent(key = "#order.id")
		public String place(String id) {
			return id;
		}

	}

	static class Malformed {

		@Idempotent(key = "#id[")
		public String place(String id) {
			return id;
		}

	}

	static class UnknownIgnored {

		@Idempotent(key = "#id", ignore = "sentAt")
		public String place(String id) {
			return id;
		}

	}

	static class UnknownIgnoredMember {

		@Idempotent(key = "#id", ignore = "/event/sentAt")
		public String place(String id) {
			return id;
		}

	}

	static class ShortRetention {

		@Idempotent(key = "#id", lease = "2m", retention = "1m")
		public String place(String id) {
			return id;
		}

	}

	static class NoDuration {

		@Idempotent(key = "#id", lease = "soon")
		public String place(String id) {
			return id;
		}

	}

}
