package dev.idempotent.saga.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.StepState;
import dev.idempotent.saga.crash.ChildApplication.Command;
import dev.idempotent.saga.crash.SagaClient.PlacedSaga;
import org.jspecify.annotations.Nullable;

/**
 * Compares the effects of a saga with its status and the answers to its caller.
 */
final class SagaAudit {

	private static final List<String> ACTIONS = List.of("order", "hold", "charge", "notify");

	private static final Set<String> COMPLETE = Set.of("succeeds", Command.LATE_HOLD, Command.WAITS);

	private static final Map<String, String> UNDOS = Map.of("order", "reject", "hold", "release", "charge", "refund");

	/**
	 * A cancellation does not wait for a charge of unknown outcome.
	 */
	private static final List<List<String>> UNDO_ORDERS = List.of(List.of("refund", "release", "reject"),
			List.of("release", "refund", "reject"));

	private SagaAudit() {
	}

	/**
	 * Returns what is wrong with a saga.
	 * @param saga the saga as its caller saw it
	 * @param status its stored status, or {@code null} if it is not stored
	 * @param effects its effects, in the order in which they were done, and what the
	 * senders of signals and cancellations were told
	 * @param waits the states of its waits, by name
	 */
	static List<String> violations(PlacedSaga saga, @Nullable SagaStatus status, List<Effect> effects,
			Map<String, StepState> waits) {
		List<String> found = new ArrayList<>();
		if (status == null && !saga.plan().equals(ChildApplication.Command.REFUSES_ORDER)) {
			found.add("lost");
		}
		if (status != null && status != SagaStatus.COMPLETED && status != SagaStatus.COMPENSATED) {
			found.add("still " + status);
		}
		if (status == SagaStatus.COMPLETED) {
			completed(saga, effects, found);
		}
		else {
			undone(effects, found);
		}
		List.of("paid", "approved").forEach((signal) -> signals(signal, effects, waits.get(signal), found));
		List.of("received", "decided")
			.forEach((once) -> check(count(effects, once) <= 1, once + " " + count(effects, once) + " times", found));
		cancellations(status, effects, found);
		answers(saga, status, effects, found);
		return found;
	}

	/**
	 * The saga gets what one sender was told is accepted.
	 */
	private static void signals(String name, List<Effect> effects, @Nullable StepState state, List<String> found) {
		List<String> accepted = new ArrayList<>(refs(effects, name + " ACCEPTED"));
		accepted.addAll(refs(effects, name + " EARLY"));
		check(accepted.size() <= 1, name + " accepted " + accepted.size() + " times", found);
		check(state != StepState.DONE || accepted.size() == 1, name + " received, but not accepted", found);
		check(state != StepState.REFUSED || accepted.isEmpty(), name + " accepted, but lost", found);
		refs(effects, name + " DUPLICATE")
			.forEach((value) -> check(accepted.contains(value), name + " is no duplicate", found));
		refs(effects, name + " DIFFERENT")
			.forEach((value) -> check(!accepted.isEmpty() && !accepted.contains(value), name + " is equal", found));
		if (name.equals("paid")) {
			refs(effects, "received")
				.forEach((value) -> check(accepted.contains(value), "received another value", found));
		}
		else {
			refs(effects, "decided").forEach((value) -> check(value.equals(String.valueOf(state == StepState.DONE)),
					"decided otherwise than recorded", found));
		}
	}

	private static void cancellations(@Nullable SagaStatus status, List<Effect> effects, List<String> found) {
		for (SagaStatus end : List.of(SagaStatus.COMPLETED, SagaStatus.COMPENSATED)) {
			check(count(effects, "told " + end) == 0 || status == end, "told " + end + ", but " + status, found);
		}
		check(count(effects, "told COMPENSATING") == 0 || status == SagaStatus.COMPENSATED, "cancelled, but " + status,
				found);
	}

	private static void completed(PlacedSaga saga, List<Effect> effects, List<String> found) {
		if (!COMPLETE.contains(saga.plan())) {
			found.add("completed although it was refused");
		}
		if (saga.plan().equals(Command.WAITS)) {
			check(count(effects, "received") == 1 && count(effects, "decided") == 1, "completed without waiting",
					found);
		}
		for (String action : ACTIONS) {
			check(count(effects, action) == 1, action + " " + count(effects, action) + " times", found);
		}
		UNDOS.values().forEach((undo) -> check(count(effects, undo) == 0, "completed, but " + undo, found));
	}

	private static void undone(List<Effect> effects, List<String> found) {
		for (String action : ACTIONS) {
			check(count(effects, action) <= 1, action + " " + count(effects, action) + " times", found);
		}
		UNDOS.forEach((action, undo) -> {
			check(count(effects, action) >= count(effects, undo), undo + " without " + action, found);
			check(count(effects, action) <= count(effects, undo), action + " without " + undo, found);
		});
		for (Effect refund : effects) {
			if (refund.kind().equals("refund")) {
				check(effects.stream()
					.anyMatch((each) -> each.kind().equals("charge") && each.ref().equals(refund.ref())),
						"refund of another charge", found);
			}
		}
		List<String> undos = effects.stream().map(Effect::kind).filter(UNDOS.values()::contains).toList();
		check(UNDO_ORDERS.stream().anyMatch((order) -> undos.equals(order.stream().filter(undos::contains).toList())),
				"undone as " + undos, found);
	}

	private static void answers(PlacedSaga saga, @Nullable SagaStatus status, List<Effect> effects,
			List<String> found) {
		check(!saga.answers().isEmpty(), "no final answer", found);
		String charge = effects.stream()
			.filter((each) -> each.kind().equals("charge"))
			.map(Effect::ref)
			.findFirst()
			.orElse("");
		Set<String> right = (status == SagaStatus.COMPLETED) ? Set.of(status.name(), status + " " + charge)
				: Set.of(SagaStatus.COMPENSATED.name());
		check(right.containsAll(saga.answers()), "answered " + saga.answers() + " instead of " + right, found);
	}

	private static void check(boolean holds, String violation, List<String> found) {
		if (!holds) {
			found.add(violation);
		}
	}

	private static List<String> refs(List<Effect> effects, String kind) {
		return effects.stream().filter((each) -> each.kind().equals(kind)).map(Effect::ref).toList();
	}

	private static long count(List<Effect> effects, String kind) {
		return effects.stream().filter((each) -> each.kind().equals(kind)).count();
	}

	/**
	 * One effect of an action or undo.
	 *
	 * @param saga the key of the saga
	 * @param kind the action or undo
	 * @param ref the charge, if it is one or refunds one
	 */
	record Effect(String saga, String kind, String ref) {
	}

}
