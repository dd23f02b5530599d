        THEN false ELSE true END
)
DELETE FROM warp.limiters AS m USING idle AS i WHERE m.family = i.family AND m.key = i.key
RETURNING 1
