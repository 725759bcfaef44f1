package dev.idempotent.sample.stock;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import dev.idempotent.sample.stock.ReserveResult.Outcome;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.SimplePropertyRowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Takes single units from the stock and releases them, in the caller's transaction.
 */
@Repository
class StockMovements {

	private static final RowMapper<Reservation> RESERVATION = new SimplePropertyRowMapper<>(Reservation.class);

	private final JdbcClient jdbc;

	private final ReservationProperties properties;

	StockMovements(JdbcClient jdbc, ReservationProperties properties) {
		this.jdbc = jdbc;
		this.properties = properties;
	}

	/**
	 * Takes a unit. The transaction must be rolled back if none was taken.
	 * @param wait whether to wait for transactions that have locked the last units and
	 * may roll back. Needs a new transaction, because an attempt that has not waited may
	 * have locked shelves in any order
	 * @throws org.springframework.dao.DuplicateKeyException if the id is known
	 */
	Attempt take(String reservationId, String item, String owner, boolean wait) {
		Optional<Listing> listing = addToOwner(reservationId, item, owner);
		if (listing.isEmpty()) {
			return Attempt.refused(Outcome.LIMIT_REACHED);
		}
		if (wait) {
			lockShelves(item);
		}
		return takeUnit(reservationId, item, owner)
			.map((unit) -> new Attempt(Outcome.RESERVED, unit.changeOf(listing.get())))
			.orElseGet(() -> Attempt.refused(Outcome.SOLD_OUT));
	}

	/**
	 * Gives the unit of a held reservation to an order.
	 * @return whether the reservation was held
	 */
	boolean confirm(String reservationId, UUID orderId) {
		return this.jdbc.sql("""
				update reservation set state = 'CONFIRMED', order_id = :order
				where reservation_id = :id and state = 'HELD'
				""").param("id", reservationId).param("order", orderId).update() == 1;
	}

	/**
	 * Ends a held reservation and returns its unit to the stock.
	 * @return what has changed, or nothing if the reservation was not held
	 */
	Optional<StockChange> release(String reservationId) {
		return this.jdbc
			.sql("update reservation set state = 'ENDED' where reservation_id = :id and state = 'HELD' returning *")
			.param("id", reservationId)
			.query(RESERVATION)
			.optional()
			.map((ended) -> {
				Listing listing = removeFromOwner(ended);
				return new Unit(ended, returnUnit(ended)).changeOf(listing);
			});
	}

	/**
	 * Adds an id to the ids of its owner unless it is known or the owner has reached the
	 * limit. A concurrent call with the same owner waits here.
	 */
	private Optional<Listing> addToOwner(String reservationId, String item, String owner) {
		return this.jdbc.sql("""
				with sale as (select item, per_user from flash_sale where item = :item)
				insert into stock_owner (item, owner, ids)
				select item, :owner, array[:id] from sale
				where not exists (select from reservation where reservation_id = :id)
				on conflict (item, owner) do update
				set ids = stock_owner.ids || excluded.ids, version = stock_owner.version + 1, changed_at = now()
				where cardinality(stock_owner.ids) < (select per_user from sale) and :id <> all (stock_owner.ids)
				returning owner, version, ids, (select per_user from sale)
				""").param("id", reservationId).param("item", item).param("owner", owner).query(Listing::of).optional();
	}

	private Listing removeFromOwner(Reservation ended) {
		return this.jdbc.sql("""
				update stock_owner set ids = array_remove(ids, :id), version = version + 1, changed_at = now()
				where item = :item and owner = :owner
				returning owner, version, ids, (select per_user from flash_sale where item = :item)
				""")
			.param("id", ended.reservationId())
			.param("item", ended.item())
			.param("owner", ended.owner())
			.query(Listing::of)
			.single();
	}

	/**
	 * Takes a unit of a shelf that is not locked, if there is one.
	 */
	private Optional<Unit> takeUnit(String reservationId, String item, String owner) {
		return this.jdbc.sql("""
				with unit as (
				  update stock_shelf set taken = taken + 1, version = version + 1
				  where item = :item and shelf = (
				    select shelf from stock_shelf where item = :item and taken < total
				    limit 1 for update skip locked)
				  returning shelf, version, total - taken as free)
				insert into reservation (reservation_id, item, owner, shelf, expires_at)
				select :id, :item, :owner, shelf, now() + :hold * interval '1 millisecond' from unit
				returning *, (select version from unit), (select free from unit)
				""")
			.param("id", reservationId)
			.param("item", item)
			.param("owner", owner)
			.param("hold", this.properties.hold().toMillis())
			.query((row, number) -> new Unit(RESERVATION.mapRow(row, number), StockLedger.shelf(row)))
			.optional();
	}

	private StockFacts.Shelf returnUnit(Reservation ended) {
		return this.jdbc.sql("""
				update stock_shelf set taken = taken - 1, version = version + 1
				where (item, shelf) = (select item, shelf from reservation where reservation_id = :id)
				returning shelf, version, total - taken as free
				""").param("id", ended.reservationId()).query((row, number) -> StockLedger.shelf(row)).single();
	}

	/**
	 * Waits for the transactions that have locked shelves with units.
	 */
	private void lockShelves(String item) {
		this.jdbc.sql("select shelf from stock_shelf where item = :item and taken < total order by shelf for update")
			.param("item", item)
			.query(Integer.class)
			.list();
	}

	private record Unit(Reservation reservation, StockFacts.Shelf shelf) {

		StockChange changeOf(Listing listing) {
			return new StockChange(this.reservation,
					new StockFacts(listing.perUser, List.of(this.shelf), List.of(listing.owner)));
		}

	}

	private record Listing(int perUser, StockFacts.Owner owner) {

		static Listing of(ResultSet row, int number) throws SQLException {
			return new Listing(row.getInt("per_user"), StockLedger.owner(row));
		}

	}

}
