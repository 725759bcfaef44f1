package dev.idempotent.idempotency;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link StoredResponse}.
 */
class StoredResponseTests {

	@Test
	void copiesItsBytesOnTheWayInAndOut() {
		byte[] given = { 1, 2, 3 };
		StoredResponse response = StoredResponse.of(given);
		given[0] = 9;
		response.bytes()[0] = 9;
		assertThat(response.bytes()).containsExactly(1, 2, 3);
		assertThat(response.size()).isEqualTo(3);
		assertThat(response.isKept()).isTrue();
	}

	@Test
	void isNotKeptWhenEmpty() {
		assertThat(StoredResponse.of(new byte[0])).isEqualTo(StoredResponse.notKept());
		assertThat(StoredResponse.notKept().isKept()).isFalse();
		assertThat(StoredResponse.notKept().bytes()).isEmpty();
		assertThat(StoredResponse.notKept().size()).isZero();
	}

	@Test
	void isEqualByItsBytes() {
		assertThat(Samples.response("a")).isEqualTo(Samples.response("a"))
			.hasSameHashCodeAs(Samples.response("a"))
			.isNotEqualTo(Samples.response("b"))
			.isNotEqualTo(StoredResponse.notKept());
	}

	@Test
	void hidesItsBytesInItsDescription() {
		assertThat(Samples.response("secret")).hasToString("6 bytes");
		assertThat(StoredResponse.notKept()).hasToString("not kept");
	}

}
