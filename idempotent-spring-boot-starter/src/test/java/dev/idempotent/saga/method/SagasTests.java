package dev.idempotent.saga.method;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.engine.SagaDefinition;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the start of sagas in the background.
 */
class SagasTests {

	@Test
	void startTheCapturedCallOnAnotherThread() {
		with((sagas, office) -> {
			AtomicReference<Object> seen = new AtomicReference<>("unset");
			IdempotencyKey id = sagas.start(() -> seen.set(office.file("1", "letter")));
			assertThat(seen).hasValue(null);
			await().until(() -> office.filed().size() == 1);
			assertThat(office.filed()).singleElement()
				.asString()
				.startsWith("letter")
				.doesNotContain(Thread.currentThread().getName());
			assertThat(sagas.start(() -> office.file("1", "letter"))).isEqualTo(id);
		});
	}

	@Test
	void captureMethodsOfAnyReturnType() {
		with((sagas, office) -> {
			sagas.start(() -> assertThat(office.weigh("1")).isZero());
			sagas.start(() -> assertThat(office.check("1")).isFalse());
			sagas.start(() -> office.shred("1"));
		});
	}

	@Test
	void refuseOtherArgumentsUnderOneKey() {
		with((sagas, office) -> {
			sagas.start(() -> office.file("1", "letter"));
			assertThatExceptionOfType(IdempotencyMismatchException.class)
				.isThrownBy(() -> sagas.start(() -> office.file("1", "other")));
		});
	}

	@Test
	void compareNothingThatTheyIgnore() {
		with((sagas, office) -> {
			IdempotencyKey id = sagas.start(() -> office.stamp("1", "letter", "today"));
			assertThat(sagas.start(() -> office.stamp("1", "letter", "tomorrow"))).isEqualTo(id);
			assertThatExceptionOfType(IdempotencyMismatchException.class)
				.isThrownBy(() -> sagas.start(() -> office.stamp("1", "other", "today")));
		});
	}

	@Test
	void refuseAnythingButOneCall() {
		with((sagas, office) -> {
			assertThatIllegalStateException().isThrownBy(() -> sagas.start(() -> {
			})).withMessageContainingAll("exactly one @Saga method", "0");
			assertThatIllegalStateException().isThrownBy(() -> sagas.start(() -> {
				office.file("1", "letter");
				office.file("2", "letter");
			})).withMessageContaining("2");
			assertThatIllegalStateException()
				.isThrownBy(() -> sagas.start(() -> sagas.start(() -> office.file("1", "letter"))))
				.withMessageContaining("another Sagas.start");
			assertThat(office.filed()).isEmpty();
		});
	}

	@Test
	void passExceptionsOfTheCallOnAndStartNothing() {
		with((sagas, office) -> {
			RuntimeException failure = new UnsupportedOperationException();
			assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> sagas.start(() -> {
				office.file("1", "letter");
				throw failure;
			})).isSameAs(failure);
			assertThatIllegalArgumentException().isThrownBy(() -> sagas.start(() -> office.file(" ", "letter")));
			assertThat(office.filed()).isEmpty();
			assertThat(office.file("1", "letter")).isEqualTo("filed letter");
		});
	}

	@Test
	void computeTheIdOfASagaByItsKey() {
		with((sagas, office) -> {
			IdempotencyKey id = sagas.start(() -> office.file("1", "letter"));
			assertThat(sagas.idOf("Office.file", "1")).isEqualTo(id);
			assertThat(sagas.idOf("Office.file", 1)).isNotEqualTo(id);
			assertThat(sagas.idOf("Office.other", "1")).isNotEqualTo(id);
			assertThatIllegalArgumentException().isThrownBy(() -> sagas.idOf("Office.file", " "));
		});
	}

	@Test
	void haveOneOfTheIdsThatAnOperatorMayMean() {
		SagaApplication.with(Office.class).run((context) -> {
			SagaKeys keys = context.getBean(SagaMethods.class).keys();
			Sagas sagas = context.getBean(Sagas.class);
			assertThat(keys.candidates("s", "1")).contains(sagas.idOf("s", "1"), sagas.idOf("s", 1L));
			assertThat(keys.candidates("s", "\"1\"")).contains(sagas.idOf("s", "1"));
			assertThat(keys.candidates("s", "[ \"a\", 2 ]")).contains(sagas.idOf("s", List.<Object>of("a", 2)));
			Office office = context.getBean(Office.class);
			List<IdempotencyKey> ids = new ArrayList<>();
			List<IdempotencyKey> runs = new ArrayList<>();
			office.serve("r-1", () -> {
				runs.add(Objects.requireNonNull(IdempotencyContext.current()).key());
				return ids.add(sagas.start(() -> office.shredHere("letter")));
			});
			assertThat(keys.candidates("Office.shredHere", runs.get(0).digest())).contains(ids.get(0));
		});
	}

	@Test
	void startUnderTheKeyOfARun() {
		with((sagas, office) -> {
			List<IdempotencyKey> ids = new ArrayList<>();
			office.serve("r-1", () -> ids.add(sagas.start(() -> office.shredHere("letter"))));
			office.serve("r-2", () -> ids.add(sagas.start(() -> office.shredHere("letter"))));
			assertThat(ids).doesNotHaveDuplicates().hasSize(2);
			assertThatIllegalStateException().isThrownBy(() -> sagas.start(() -> office.shredHere("letter")))
				.withMessageContaining("no key");
		});
	}

	@Test
	void readWhatProvesAResponseFromItsJson() {
		SagaApplication.with(Office.class).run((context) -> {
			SagaDefinition saga = context.getBean(SagaMethods.class).definitions().iterator().next();
			String json = "{\"id\":0,\"error\":{\"code\":false,\"none\":null},\"a/b\":\"\"}";
			assertThat(List.of("/id", "/error/code", "/error", "/a~1b"))
				.allMatch((pointer) -> saga.hasValue(json, pointer));
			assertThat(List.of("/error/none", "/ID", "/id/x")).noneMatch((pointer) -> saga.hasValue(json, pointer));
			for (String other : List.of("", "<html></html>", "[]", "null", "\"id\"", "{\"id\":1", "id")) {
				assertThat(saga.hasValue(other, "/id")).as(other).isFalse();
			}
			Office office = context.getBean(Office.class);
			for (String pointer : List.of("", "id", "#/id", "/a~2")) {
				assertThatIllegalArgumentException().isThrownBy(() -> office.prove("1", pointer))
					.withMessageContaining("not a JSON pointer");
			}
		});
	}

	@Test
	void runOnVirtualThreadsIfSpringBootPermitsThem() {
		SagaApplication.with(Office.class).withPropertyValues("spring.threads.virtual.enabled=true").run((context) -> {
			Office office = context.getBean(Office.class);
			context.getBean(Sagas.class).start(() -> office.file("1", "letter"));
			await().until(() -> !office.threads().isEmpty());
			Thread thread = office.threads().get(0);
			assertThat(thread.getName()).startsWith("saga-");
			assertThat(thread.toString().startsWith("VirtualThread")).isEqualTo(Runtime.version().feature() >= 21);
		});
	}

	private static void with(BiConsumer<Sagas, Office> test) {
		SagaApplication.with(Office.class)
			.run((context) -> test.accept(context.getBean(Sagas.class), context.getBean(Office.class)));
	}

	static class Office {

		private final List<String> filed = Collections.synchronizedList(new ArrayList<>());

		private final List<Thread> threads = Collections.synchronizedList(new ArrayList<>());

		private final SagaSteps saga;

		Office(SagaSteps saga) {
			this.saga = saga;
		}

		List<Thread> threads() {
			return this.threads;
		}

		List<String> filed() {
			return this.filed;
		}

		@Saga(key = "#id", name = "Office.file")
		public String file(String id, String what) {
			return this.saga.step("file", String.class).run(() -> {
				this.threads.add(Thread.currentThread());
				this.filed.add(what + " on " + Thread.currentThread().getName());
				return "filed " + what;
			});
		}

		@Saga(key = "#id", name = "Office.stamp", ignore = "date")
		public String stamp(String id, String what, String date) {
			return this.saga.step("stamp", String.class).run(() -> what + " of " + date);
		}

		@Saga(key = "#id", name = "Office.weigh")
		public int weigh(String id) {
			return this.saga.step("weigh", Integer.class).run(() -> 7);
		}

		@Saga(key = "#id", name = "Office.check")
		public boolean check(String id) {
			return this.saga.step("check", Boolean.class).run(() -> true);
		}

		@Saga(name = "Office.shredHere")
		public void shredHere(String what) {
			this.saga.step("shred").run(() -> {
			});
		}

		@Saga(key = "#id", name = "Office.prove")
		public void prove(String id, String pointer) {
			this.saga.step("prove").provenBy(pointer).run(() -> {
			});
		}

		@Saga(key = "#what", name = "Office.shred")
		public void shred(String what) {
			this.saga.step("shred").run(() -> {
			});
		}

		@Idempotent(key = "#id", ignore = "work", name = "office.serve")
		public boolean serve(String id, Supplier<Boolean> work) {
			return work.get();
		}

	}

}
