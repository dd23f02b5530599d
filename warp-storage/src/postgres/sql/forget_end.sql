        THEN false ELSE true END
)
DELETE FROM warp.limiters AS m USING idle AS i WHERE m.ctid = i.found
RETURNING 1
