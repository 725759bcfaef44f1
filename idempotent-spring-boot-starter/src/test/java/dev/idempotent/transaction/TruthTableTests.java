package dev.idempotent.transaction;

import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.transaction.support.TransactionSynchronization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * What is known of the end of a transaction, by what was reported and seen. A row for
 * each combination that differs; {@code any} stands for both values.
 */
class TruthTableTests {

	private static final boolean[] BOTH = { false, true };

	@ParameterizedTest(name = "{0}: announced {1}, committing {2}, written {3}, confirmed {4}, prevented {5}, "
			+ "rolled back {6}, valid {7} -> {8}")
	@CsvSource(textBlock = """
			# reported,  announced, committing, written, confirmed, prevented, rolled back, valid, end
			COMMITTED,   true,      any,        true,    true,      false,     any,         any,   COMMITTED
			# a participant that was registered after the commit, or a manager that calls nothing before
			COMMITTED,   false,     any,        any,     any,       any,       any,         any,   UNKNOWN
			# a last statement was not reached
			COMMITTED,   true,      any,        false,   any,       any,       any,         any,   UNKNOWN
			# PostgreSQL would answer with a rollback
			COMMITTED,   true,      any,        true,    false,     any,       any,         any,   UNKNOWN
			# the manager has committed another connection
			COMMITTED,   true,      any,        true,    true,      true,      any,         any,   UNKNOWN
			# an ordinary rollback
			ROLLED_BACK, true,      false,      any,     any,       false,     any,         any,   ROLLED_BACK
			# a callback before the commit has failed, or the commit was refused: the connection still answers
			ROLLED_BACK, true,      true,       any,     any,       false,     true,        any,   ROLLED_BACK
			ROLLED_BACK, true,      true,       any,     any,       false,     false,       true,  ROLLED_BACK
			# the reply to the commit was lost
			ROLLED_BACK, true,      true,       any,     any,       false,     false,       false, UNKNOWN
			# no callback was called before: nothing may have been rolled back
			ROLLED_BACK, false,     any,        any,     any,       false,     true,        any,   ROLLED_BACK
			ROLLED_BACK, false,     any,        any,     any,       false,     false,       any,   UNKNOWN
			# a callback has thrown an exception of Spring's transactions before the commit
			UNKNOWN,     false,     any,        any,     any,       false,     true,        any,   ROLLED_BACK
			UNKNOWN,     false,     any,        any,     any,       false,     false,       any,   UNKNOWN
			# the rollback has failed, or a listener has kept the manager from it
			UNKNOWN,     true,      false,      any,     any,       false,     true,        any,   ROLLED_BACK
			UNKNOWN,     true,      false,      any,     any,       false,     false,       any,   UNKNOWN
			UNKNOWN,     true,      any,        false,   any,       false,     true,        any,   ROLLED_BACK
			UNKNOWN,     true,      any,        false,   any,       false,     false,       any,   UNKNOWN
			# the commit may have been sent
			UNKNOWN,     true,      true,       true,    any,       false,     any,         any,   UNKNOWN
			# the connection was rolled back and closed before the commit
			ROLLED_BACK, any,       any,        any,     any,       true,      any,         any,   ROLLED_BACK
			UNKNOWN,     any,       any,        any,     any,       true,      any,         any,   ROLLED_BACK
			""")
	void tellsTheEnd(String reported, String announced, String committing, String written, String confirmed,
			String prevented, String rolledBack, String valid, End end) {
		for (boolean a : values(announced)) {
			for (boolean c : values(committing)) {
				for (boolean w : values(written)) {
					for (boolean f : values(confirmed)) {
						for (boolean p : values(prevented)) {
							for (boolean r : values(rolledBack)) {
								for (boolean v : values(valid)) {
									for (boolean o : BOTH) {
										assertThat(ObservedTransaction.endOf(status(reported), a, c, w, f, p, o,
												() -> r, () -> v))
											.isEqualTo(end);
									}
								}
							}
						}
					}
				}
			}
		}
	}

	/**
	 * Of the 768 combinations of what is reported and seen, none is committed but one.
	 */
	@Test
	void tellsACommitOfOneCombinationOnly() {
		int commits = 0;
		for (int status = 0; status <= TransactionSynchronization.STATUS_UNKNOWN; status++) {
			for (int bits = 0; bits < 256; bits++) {
				int seen = bits;
				End end = ObservedTransaction.endOf(status, isSet(seen, 0), isSet(seen, 1), isSet(seen, 2),
						isSet(seen, 3), isSet(seen, 4), isSet(seen, 7), () -> isSet(seen, 5), () -> isSet(seen, 6));
				if (end == End.COMMITTED) {
					assertThat(status).isEqualTo(TransactionSynchronization.STATUS_COMMITTED);
					// Whether the callbacks were seen, and what is asked only after a
					// failure, is free.
					assertThat(seen & 0b00011101).isEqualTo(0b00001101);
					commits++;
				}
			}
		}
		assertThat(commits).isEqualTo(16);
	}

	/**
	 * Spring resets the connection of a transaction whose commit has failed, which
	 * commits.
	 */
	@ParameterizedTest
	@CsvSource({ "false, false", "true, true" })
	void rollsBackWhateverWasReportedAsUnknown(boolean committing, boolean written) {
		AtomicBoolean rolledBack = new AtomicBoolean();
		End unused = ObservedTransaction.endOf(TransactionSynchronization.STATUS_UNKNOWN, true, committing, written,
				true, false, true, () -> {
					rolledBack.set(true);
					return true;
				}, () -> true);
		assertThat(rolledBack).isTrue();
	}

	/**
	 * A manager may report that its part of a transaction that goes on is of unknown
	 * outcome.
	 */
	@Test
	void doesNotRollBackATransactionOfAnotherThatMayHaveCommitted() {
		assertThat(ObservedTransaction.endOf(TransactionSynchronization.STATUS_UNKNOWN, true, true, true, true, false,
				false, () -> fail("The caller goes on with its transaction"), () -> true))
			.isEqualTo(End.UNKNOWN);
	}

	private static boolean isSet(int bits, int index) {
		return (bits & (1 << index)) != 0;
	}

	private static int status(String reported) {
		return switch (reported) {
			case "COMMITTED" -> TransactionSynchronization.STATUS_COMMITTED;
			case "ROLLED_BACK" -> TransactionSynchronization.STATUS_ROLLED_BACK;
			default -> TransactionSynchronization.STATUS_UNKNOWN;
		};
	}

	private static boolean[] values(String value) {
		return value.equals("any") ? BOTH : new boolean[] { Boolean.parseBoolean(value) };
	}

}
