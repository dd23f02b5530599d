-- A row that somebody else is changing is waited for, and is found changed then: it is left to the next turn.
, free AS (SELECT * FROM mine)
