package dev.idempotent.idempotency.method;

import java.util.List;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.testing.PackagePrivateMethod;
import org.springframework.context.event.EventListener;
import org.springframework.transaction.annotation.Transactional;

/**
 * Beans whose one annotated method, always {@code place}, cannot be idempotent.
 */
final class InvalidMethods {

	private InvalidMethods() {
	}

	static class FinalMethod {

		@Idempotent(key = "#id", name = "final-method.place")
		public final String place(String id) {
			return id;
		}

	}

	static class ChangeableId {

		private String value = "";

		@Override
		public String toString() {
			return this.value;
		}

		void change(String changed) {
			this.value = changed;
		}

	}

	record Batch(List<ChangeableId> ids) {
	}

	static class ChangeableKey {

		@Idempotent(key = "#id", name = "changeable-key.place", ignore = "*")
		public String place(ChangeableId id) {
			return "";
		}

	}

	static class ChangeableMemberOfAKey {

		@Idempotent(key = "#batches", name = "changeable-member-of-a-key.place", ignore = "*")
		public String place(List<Batch> batches) {
			return "";
		}

	}

	static final class FinalClass {

		@Idempotent(key = "#id", name = "final-class.place")
		public String place(String id) {
			return id;
		}

	}

	record OneRecord(String name) {

		@Idempotent(key = "#id", name = "one-record.place")
		public String place(String id) {
			return this.name + id;
		}

	}

	abstract static sealed class Sealed {

		@Idempotent(key = "#id", name = "sealed.place")
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

		@Idempotent(key = "#id", name = "private-method.place")
		private String place(String id) {
			return id;
		}

	}

	static class StaticMethod {

		@Idempotent(key = "#id", name = "static-method.place")
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
		@Idempotent(key = "#id", name = "beside-its-interface.place")
		public String place(String id) {
			return id;
		}

	}

	interface Placing {

		@Transactional
		@Idempotent(key = "#id", name = "placing.place")
		String place(String id);

	}

	static class Plain {

		@Idempotent(key = "#id", name = "plain.place")
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

		@Idempotent(key = "#order.id", name = "unknown-variable.place")
		public String place(String id) {
			return id;
		}

	}

	static class Malformed {

		@Idempotent(key = "#id[", name = "malformed.place")
		public String place(String id) {
			return id;
		}

	}

	static class UnknownIgnored {

		@Idempotent(key = "#id", ignore = "sentAt", name = "unknown-ignored.place")
		public String place(String id) {
			return id;
		}

	}

	static class UnknownIgnoredMember {

		@Idempotent(key = "#id", ignore = "/event/sentAt", name = "unknown-ignored-member.place")
		public String place(String id) {
			return id;
		}

	}

	static class ShortRetention {

		@Idempotent(key = "#id", lease = "2m", retention = "1m", name = "short-retention.place")
		public String place(String id) {
			return id;
		}

	}

	static class NoDuration {

		@Idempotent(key = "#id", lease = "soon", name = "no-duration.place")
		public String place(String id) {
			return id;
		}

	}

}
