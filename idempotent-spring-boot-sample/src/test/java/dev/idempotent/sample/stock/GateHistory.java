package dev.idempotent.sample.stock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A random history of a small sale. The gate is told of its commits late, twice or in
 * another order, and is compared with a model after each step.
 */
class GateHistory {

	private static final int PER_USER = 2;

	private final StockGate gate;

	private final GateKeys keys;

	private final GateModel model = new GateModel();

	private final Random random;

	private final int[] free = { 2, 2, 1 };

	private final long[] versions = { 1, 1, 1 };

	private final Map<String, StockFacts.Owner> owners = new HashMap<>();

	private final Map<String, Integer> shelfById = new HashMap<>();

	private final List<Commit> commits = new ArrayList<>();

	private final List<StockFacts> snapshots = new ArrayList<>();

	GateHistory(StockGate gate, GateKeys keys, long seed) {
		this.gate = gate;
		this.keys = keys;
		this.random = new Random(seed);
		this.snapshots.add(snapshot());
	}

	void play(int steps) {
		for (int i = 0; i < steps; i++) {
			step();
			assertThat(this.gate.view(this.keys.item())).as("after step %d", i)
				.isEqualTo(this.model.isAbsent() ? Optional.empty() : Optional.of(this.model.view()));
		}
	}

	private void step() {
		switch (this.random.nextInt(16)) {
			case 0 -> load(any(this.snapshots));
			case 1 -> reset(any(this.snapshots));
			case 2 -> age();
			case 3 -> {
				if (this.random.nextInt(4) == 0) {
					wipe();
				}
			}
			case 4, 5, 6, 7 -> admit();
			case 8, 9 -> reserve();
			case 10 -> cancel();
			default -> tell();
		}
	}

	private void admit() {
		String owner = owner();
		String id = id(owner);
		assertThat(this.gate.admit(this.keys.item(), id, owner)).isEqualTo(this.model.admit(id, owner));
	}

	private void reserve() {
		String owner = owner();
		String id = id(owner);
		List<String> ids = new ArrayList<>(ids(owner));
		int shelf = this.random.nextInt(this.free.length);
		if (!this.shelfById.containsKey(id) && ids.size() < PER_USER && this.free[shelf] > 0) {
			ids.add(id);
			this.shelfById.put(id, shelf);
			commit(id, owner, ids, shelf, -1);
		}
	}

	private void cancel() {
		String owner = owner();
		List<String> ids = new ArrayList<>(ids(owner));
		if (!ids.isEmpty()) {
			String id = ids.remove(0);
			commit(id, owner, ids, Objects.requireNonNull(this.shelfById.get(id)), 1);
		}
	}

	private void commit(String id, String owner, List<String> ids, int shelf, int change) {
		this.free[shelf] += change;
		this.versions[shelf]++;
		long version = this.owners.containsKey(owner) ? this.owners.get(owner).version() + 1 : 1;
		this.owners.put(owner, new StockFacts.Owner(owner, version, List.copyOf(ids)));
		this.commits
			.add(new Commit(id, new StockFacts(PER_USER, List.of(shelf(shelf)), List.of(this.owners.get(owner)))));
		this.snapshots.add(snapshot());
	}

	private void tell() {
		if (!this.commits.isEmpty()) {
			Commit commit = any(this.commits);
			this.gate.tell(this.keys.item(), commit.id(), commit.facts());
			this.model.tell(commit.id(), commit.facts());
		}
	}

	private void load(StockFacts facts) {
		this.gate.load(this.keys.item(), facts);
		this.model.load("", facts);
	}

	private void reset(StockFacts facts) {
		this.gate.reset(this.keys.item(), facts);
		this.model.reset(facts);
	}

	private void age() {
		this.keys.age();
		this.model.age();
	}

	private void wipe() {
		this.keys.wipe();
		this.model.wipe();
	}

	private StockFacts snapshot() {
		return new StockFacts(PER_USER, IntStream.range(0, this.free.length).mapToObj(this::shelf).toList(),
				List.copyOf(this.owners.values()));
	}

	private StockFacts.Shelf shelf(int number) {
		return new StockFacts.Shelf(number, this.versions[number], this.free[number]);
	}

	private String owner() {
		return "owner-" + this.random.nextInt(4);
	}

	private String id(String owner) {
		return owner + "/" + this.random.nextInt(5);
	}

	private List<String> ids(String owner) {
		return this.owners.containsKey(owner) ? this.owners.get(owner).reservationIds() : List.of();
	}

	private <T> T any(List<T> all) {
		return all.get(this.random.nextInt(all.size()));
	}

	private record Commit(String id, StockFacts facts) {
	}

}
