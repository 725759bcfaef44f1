package dev.idempotent.sample.crash;

import java.util.List;

import dev.idempotent.sample.crash.Audit.Violation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class AuditTests {

	private final KeyHistory key = new KeyHistory("key");

	@Test
	void findsNothingWhereAllPromisesWereKept() {
		tried(null);
		tried(new Answer(409, "", "urn:problem-type:idempotency:in-progress", false));
		tried(new Answer(503, "", "", false));
		tried(placed("one", false));
		tried(placed("one", true));
		altered(422);
		assertThat(kinds("one")).isEmpty();
	}

	@Test
	void findsAKeyWithoutAFinalAnswer() {
		tried(null);
		tried(new Answer(503, "", "", false));
		assertThat(kinds("one")).containsExactly("stuck");
	}

	@Test
	void findsASecondOrder() {
		tried(placed("one", false));
		assertThat(kinds("one", "two")).containsExactly("several orders");
	}

	@Test
	void findsAnAnswerThatDiffersFromTheFirst() {
		tried(placed("one", true));
		tried(new Answer(201, "/api/orders/one", "{\"orderId\": \"one\"}", true));
		assertThat(kinds("one")).containsExactly("several responses");
	}

	@Test
	void findsWorkThatRanAgainThoughItLeftNoTrace() {
		tried(placed("one", false));
		tried(placed("one", false));
		assertThat(kinds("one")).containsExactly("ran again");
	}

	@Test
	void findsAnAnswerWithoutAnyOrder() {
		tried(placed("one", false));
		assertThat(kinds()).containsExactly("lost order");
	}

	@Test
	void findsAnAnswerThatNamesAnotherOrder() {
		tried(placed("one", false));
		assertThat(kinds("two")).containsExactly("response without its order");
	}

	@Test
	void findsAnAnswerThatIsNoOrder() {
		tried(new Answer(404, "", "{}", false));
		assertThat(kinds("one")).containsExactly("response without its order");
	}

	@Test
	void findsAnOtherRequestThatWasTakenUnderTheSameKey() {
		tried(placed("one", false));
		altered(201);
		assertThat(kinds("one")).containsExactly("altered request taken");
	}

	private static Answer placed(String orderId, boolean replayed) {
		return new Answer(201, "/api/orders/" + orderId, "{\"orderId\":\"" + orderId + "\"}", replayed);
	}

	private void tried(@Nullable Answer answer) {
		this.key.add(new Attempt("shop-1/1", "", false, 1, 2, answer, ""));
	}

	private void altered(int status) {
		this.key.add(new Attempt("shop-1/1", "", true, 3, 4, new Answer(status, "", "", false), ""));
	}

	private List<String> kinds(String... orders) {
		return Audit.check(this.key, List.of(orders)).stream().map(Violation::kind).toList();
	}

}
